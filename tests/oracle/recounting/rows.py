"""Rows of the event list, and the pairing of those that begin and end something."""

from collections import Counter, defaultdict

from .reading import UNDECODABLE, NumberText
from .values import identity, is_text, to_ns


class Row:
    __slots__ = ("index", "ph", "cat", "name", "ts", "dur", "track", "element")

    def __init__(self, index, element, ph, ts):
        cat = element.get("cat")
        self.index = index
        self.ph = ph
        self.cat = cat if type(cat) is str else None
        self.name = element.get("name")
        self.ts = ts
        self.dur = to_ns(element.get("dur")) if ph == "X" else None
        self.track = (identity(element.get("pid")), identity(element.get("tid")))
        self.element = element


def skip_reason(element, ts):
    """Why the element is no row, else None."""
    if element is UNDECODABLE:
        return "undecodable"
    if type(element) is not dict:
        return "not_an_object"
    if "ph" not in element:
        return "ph_missing"
    if type(element["ph"]) is not str:
        return "ph_not_a_string"
    if ts is None and element["ph"] != "M":
        return "ts_unusable" if "ts" in element else "ts_missing"
    return None


def read_rows(elements):
    rows, skipped = [], Counter()
    for index, element in enumerate(elements):
        ts = to_ns(element.get("ts")) if type(element) is dict else None
        reason = skip_reason(element, ts)
        if reason:
            skipped[reason] += 1
        else:
            rows.append(Row(index, element, element["ph"], ts))
    return rows, skipped


def async_key(row):
    element = row.element
    ident = element.get("id")
    where = "id"
    if ident is None and type(element.get("id2")) is dict:
        for where in ("local", "global"):
            ident = element["id2"].get(where)
            if ident is not None:
                break
    if type(ident) not in (int, str, NumberText):
        return None
    scope = element.get("scope")
    pid = None if where == "global" else row.track[0]
    return pid, row.cat, where, identity(ident), scope if is_text(scope) else None


def pair(rows, begin, end, key_of):
    """Give begin rows the distance to their end as dur; counts of what matched."""
    counts = dict.fromkeys(
        ("matched", "unmatched_begin", "unmatched_end", "name_mismatches", "without_key"), 0
    )
    by_key = defaultdict(list)
    for row in rows:
        if row.ph == begin or row.ph == end:
            key = key_of(row)
            if key is None:
                counts["without_key"] += 1
            else:
                by_key[key].append(row)
    for members in by_key.values():
        pair_stack(sorted(members, key=lambda row: (row.ts, row.index)), begin, counts)
    return counts


def pair_stack(members, begin, counts):
    stack = []
    for row in members:
        if row.ph == begin:
            stack.append(row)
        elif stack:
            opened = stack.pop()
            opened.dur = row.ts - opened.ts
            counts["matched"] += 1
            if is_text(row.name) and row.name != opened.name:
                counts["name_mismatches"] += 1
        else:
            counts["unmatched_end"] += 1
    counts["unmatched_begin"] += len(stack)
