#!/usr/bin/env python3
"""Recount profiler traces exactly, without any code of tracesql.

    recount.py FILE...        one JSON object per file and line, keys sorted

The tests compare these figures with what `tracesql ingest` stored. Only the
standard library is used. No time and no id ever passes through a float.

Reading
  * Plain or gzip, recognised by the content. Numbers with a point or an exponent
    keep their text (`NumberText`); integers are Python integers.
  * mode "json": the json module (control characters allowed) reads the text.
    mode "escapes": it does once each `\\` that starts no valid escape is
    doubled, that is, read as a literal backslash. mode "lenient": the event
    list is split element by element; text that does not decode, up to the
    next line that opens an object which does, is one skipped element. An
    event list without its end is read to the end of the text.
  * A key that is written twice counts with its last value.
  * kind "unreadable": the file or its gzip stream is missing or damaged.
  * A trace is an object whose `traceEvents` is a list, or a bare list with
    at least one object that has a `ph` (or an empty bare list).

Rows
  * `index` is the position in the event list; skipped elements have one too.
  * rows = elements - skipped. Skipped: undecodable, not an object, `ph`
    missing or no string, and, except for ph M, `ts` missing or unusable.
  * A time is a number or a string that holds one (ASCII, blanks around it
    allowed), in us; as ns it is rounded half to even and must fit an i64.
  * X rows take their own `dur` (unusable: null), matched B and b rows take
    the distance to their end; all other rows have no dur.
  * pid and tid are compared by type and value: 1, "1" and 1.0 differ.

Times
  * start and end: the least ts and the greatest ts + dur (0 if negative or
    none, and for B and b, and if the sum is beyond i64) of rows that are no
    ph M, c, s, t or f.
  * unset: such rows at 0 ns, or at minus baseTimeNanoseconds where that is
    the least ts, if all others start and end more than a day away. They do
    not count for start and end.

Pairing
  * B/E: per (pid, tid), in order of (ts, index), an E ends the open B that
    began last, whatever the names; E names that differ are counted.
  * b/e: the same per (pid, cat, id | id2.local, scope), or (cat, id2.global,
    scope) for all processes; rows without an id are not paired.

Nesting ("nest": X rows with a dur; "nest_xb": with matched B rows too, only
where the trace has B rows)
  * Per (pid, tid), in order of (ts, longest first, index), half-open.
    A negative dur counts as length 0 here, in self times too.
  * The open events are a stack. Before a row is pushed the top goes while it
    has ended: end < ts, or end = ts unless both are of length 0 at ts.
  * The row overlaps partially if the top then ends before the row does.
  * Its parent is the innermost event on the stack that has not ended, ends
    no earlier than the row, and is no kernel, memcpy or memset.
  * depth = parent's + 1, else 0. self = length - union of the children.
  * checksum = sum of (index+1)*1000003 + (parent+1)*10007 + depth*101,
    modulo 2^61-1, parent -1 for none.

Links
  * Device rows: X rows of DEVICE_CATS, and mtia_ccp_events. Launches: X
    rows whose cat is Runtime or ends with _runtime or _driver.
  * An id is an integer or a string of digits, but not 0, -1, 2^32-1, 2^64-1.
  * A device row belongs to the launch with its correlation; of several to
    the last by (ts, index) with ts <= its own ts, else to the first.
  * op = the innermost cpu_op or Operator that contains the launch in time on
    its (pid, tid), whatever partly overlaps the two.
  * checksum = sum of (index+1)*1000003 + (launch+1)*10007 + (op+1)*101,
    modulo 2^61-1, -1 for none.
  * shared_id: device rows without a correlation whose External id exactly
    one launch has, which has no correlation either and starts no later
    (with_op of them inside an operator), if none of the trace's launches has
    a correlation and no flow starts on a track of launches; else null.
  * ext_check, if some launch has an External id that is not its correlation
    (else null): of the launches with a device row, how often the op has the
    same External id (equal), another or none (differs), how often the launch
    has none or its correlation (launch_without), or no op (no_op).
"""

import bisect
import gc
import gzip
import json
import re
import sys
import zlib
from collections import Counter, defaultdict

MODULUS = 2**61 - 1
I64_MIN, I64_MAX = -(2**63), 2**63 - 1
FIRST_KEYS = 12

NO_PARENT_CATS = {"kernel", "gpu_memcpy", "gpu_memset", "Kernel", "Memcpy", "Memset"}
DEVICE_CATS = NO_PARENT_CATS | {"cuda_sync"}
OP_CATS = {"cpu_op", "Operator"}
STEP_CATS = OP_CATS | {"user_annotation"}
NO_IDS = {0, -1, 2**32 - 1, 2**64 - 1}

# Places in what the stack of open events holds.
MAY_ENCLOSE, IS_OP = 3, 4

STEP_NAME = re.compile(r"ProfilerStep ?#([0-9]+)")
NUMBER = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+))?")
DIGITS = re.compile(r"[0-9]+")
ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|\\')
OBJECT_LINE = re.compile(r"^[ \t]*(?=\{)", re.MULTILINE)
SEPARATORS = re.compile(r"[ \t\r\n,]*")
BLANKS = re.compile(r"[ \t\r\n]*")
STRING_BLANKS = " \t\r\n"

UNREADABLE = (ValueError, RecursionError)
if hasattr(sys, "set_int_max_str_digits"):
    sys.set_int_max_str_digits(0)


class NumberText(str):
    """Text of a JSON number with a fraction or an exponent."""

    __slots__ = ()


class Constant(str):
    """NaN, Infinity or -Infinity where JSON wants a number."""

    __slots__ = ()


class Undecodable:
    """Stands in the event list for text that no element could be read from."""


UNDECODABLE = Undecodable()
DECODER = json.JSONDecoder(strict=False, parse_float=NumberText, parse_constant=Constant)


# ---------------------------------------------------------------- reading


def read_text(path):
    """The file's text; None if it is a zip archive."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    if data[:4] == b"PK\x03\x04":
        return None
    return data.decode("utf-8-sig", errors="replace")


def double_bad_backslashes(text):
    return ESCAPE.sub(lambda m: "\\\\" if m.group() == "\\" else m.group(), text)


def read_document(text):
    """(mode, document); mode None if the text is no JSON at all."""
    start = BLANKS.match(text).end()
    if text[start : start + 1] not in ("{", "["):
        return None, None
    try:
        return "json", DECODER.decode(text)
    except UNREADABLE:
        pass
    fixed = double_bad_backslashes(text)
    if fixed != text:
        try:
            return "escapes", DECODER.decode(fixed)
        except UNREADABLE:
            pass
    return "lenient", read_leniently(fixed, BLANKS.match(fixed).end())


def read_leniently(text, start):
    if text[start] == "[":
        return split_elements(text, start + 1)[0]
    return read_object_leniently(text, start + 1)


def read_object_leniently(text, pos):
    """The top-level members up to the first that cannot be read."""
    members = {}
    while True:
        pos = SEPARATORS.match(text, pos).end()
        try:
            key, pos = DECODER.raw_decode(text, pos)
            pos = BLANKS.match(text, pos).end()
            if not isinstance(key, str) or text[pos : pos + 1] != ":":
                return members
            pos = BLANKS.match(text, pos + 1).end()
            if key == "traceEvents" and text[pos : pos + 1] == "[":
                members[key], pos = split_elements(text, pos + 1)
            else:
                members[key], pos = DECODER.raw_decode(text, pos)
        except UNREADABLE:
            return members


def split_elements(text, pos):
    """Elements of the list whose first one starts at pos, and where it ends."""
    elements = []
    while True:
        pos = SEPARATORS.match(text, pos).end()
        if pos == len(text) or text[pos] == "]":
            return elements, pos + 1
        try:
            element, pos = DECODER.raw_decode(text, pos)
        except UNREADABLE:
            element, pos = UNDECODABLE, next_object(text, pos)
        elements.append(element)


def next_object(text, pos):
    """Where the next line starts that opens an object which decodes."""
    for line in OBJECT_LINE.finditer(text, pos + 1):
        try:
            DECODER.raw_decode(text, line.end())
            return line.end()
        except UNREADABLE:
            continue
    return len(text)


# ---------------------------------------------------------------- values


def is_text(value):
    return type(value) is str


def to_ns(value):
    """Nanoseconds of a time in us; None if it is no number or beyond i64."""
    kind = type(value)
    if kind is int:
        ns = value * 1000
    elif kind is NumberText:
        ns = decimal_to_ns(value)
    elif kind is str:
        ns = decimal_to_ns(value.strip(STRING_BLANKS))
    else:
        return None
    if ns is None or not I64_MIN <= ns <= I64_MAX:
        return None
    return ns


def decimal_to_ns(text):
    whole, point, fraction = text.partition(".")
    if point and len(fraction) <= 3 and fraction.isdigit() and whole.isdigit() and text.isascii():
        return int(whole + fraction + "000"[len(fraction) :])
    match = NUMBER.fullmatch(text)
    if match is None:
        return None
    sign, whole, fraction, exponent = match.groups()
    fraction = fraction or ""
    if not whole and not fraction:
        return None
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return 0
    magnitude = scale_half_even(digits, int(exponent or 0) - len(fraction) + 3)
    if magnitude is None:
        return None
    return -magnitude if sign == "-" else magnitude


def scale_half_even(digits, power):
    """digits * 10^power as an integer; None if far beyond i64."""
    if len(digits) + power > 25:
        return None
    if power >= 0:
        return int(digits) * 10**power
    if len(digits) + power < -1:
        return 0
    quotient, rest = divmod(int(digits), 10**-power)
    half = 10**-power // 2
    if rest > half or (rest == half and quotient % 2 == 1):
        quotient += 1
    return quotient


def to_id(value):
    """An id that can be joined on, else None."""
    if type(value) is int:
        number = value
    elif type(value) is str and DIGITS.fullmatch(value):
        number = int(value)
    else:
        return None
    return None if number in NO_IDS else number


def identity(value):
    """Equal only for values of the same JSON type and text."""
    if value is None or type(value) in (int, str):
        return value
    return type(value).__name__, json.dumps(value, sort_keys=True)


def args_of(element):
    args = element.get("args")
    return args if type(args) is dict else {}


def correlation_of(row):
    return to_id(args_of(row.element).get("correlation"))


def external_id_of(row):
    args = args_of(row.element)
    if "External id" in args:
        return to_id(args["External id"])
    for key, value in args.items():
        if key.lower() == "external id":
            return to_id(value)
    return None


# ---------------------------------------------------------------- rows


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


# ---------------------------------------------------------------- pairing


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


# ---------------------------------------------------------------- nesting


class Nesting:
    """Parents, depths and self times of the given rows (all with a dur)."""

    def __init__(self, rows):
        self.rows = rows
        self.parent = {}
        self.depth = {}
        self.op_of_launch = {}
        self.covered = Counter()
        self.covered_until = {}
        self.partial_overlaps = 0
        by_track = defaultdict(list)
        for row in rows:
            by_track[row.track].append((row.ts, -max(row.dur, 0), row.index, row.cat))
        for members in by_track.values():
            members.sort(key=lambda member: member[:3])
            self.nest_track(members)

    def nest_track(self, members):
        stack = []  # (start, end, index, may be a parent, is an operator)
        for start, minus_length, index, cat in members:
            end = start - minus_length
            while stack and has_ended(stack[-1], start, end):
                stack.pop()
            if stack and stack[-1][1] < end:
                self.partial_overlaps += 1
            parent = innermost(stack, start, end, MAY_ENCLOSE)
            self.parent[index] = parent
            self.depth[index] = 0 if parent == -1 else self.depth[parent] + 1
            if parent != -1:
                self.cover(parent, start, end)
            if is_launch_cat(cat):
                self.op_of_launch[index] = innermost(stack, start, end, IS_OP)
            stack.append((start, end, index, cat not in NO_PARENT_CATS, cat in OP_CATS))

    def cover(self, parent, start, end):
        """Add a child to the union; children come in order of their starts."""
        start = max(start, self.covered_until.get(parent, start))
        if end > start:
            self.covered[parent] += end - start
            self.covered_until[parent] = end

    def checksum(self):
        total = sum(
            (index + 1) * 1000003 + (parent + 1) * 10007 + self.depth[index] * 101
            for index, parent in self.parent.items()
        )
        return total % MODULUS

    def report(self):
        depths = Counter(self.depth.values())
        covered = sum(self.covered.values())
        return {
            "nest_count": len(self.rows),
            "depth_hist": [depths[depth] for depth in range(max(depths, default=-1) + 1)],
            "with_parent": sum(parent != -1 for parent in self.parent.values()),
            "partial_overlaps": self.partial_overlaps,
            "sum_dur_ns": sum(row.dur for row in self.rows),
            "sum_self_ns": sum(max(row.dur, 0) for row in self.rows) - covered,
            "min_ts_ns": min((row.ts for row in self.rows), default=None),
            "max_end_ns": max((row.ts + max(row.dur, 0) for row in self.rows), default=None),
            "checksum": self.checksum(),
        }


def has_ended(opened, start, end):
    if opened[1] != start:
        return opened[1] < start
    both_empty = opened[0] == start and end == start
    return not both_empty


def innermost(stack, start, end, quality):
    """The innermost open event with a quality that encloses (start, end), else -1."""
    for opened in reversed(stack):
        if opened[quality] and opened[1] >= end and not has_ended(opened, start, end):
            return opened[2]
    return -1


def nest(rows):
    """(report members, the nesting that launches are looked up in)."""
    spans = [row for row in rows if row.ph == "X" and row.dur is not None]
    nesting = Nesting(spans)
    reports = {"nest": nesting.report()}
    if any(row.ph == "B" for row in rows):
        begins = [row for row in rows if row.ph == "B" and row.dur is not None]
        nesting = Nesting(spans + begins)
        reports["nest_xb"] = nesting.report()
    return reports, nesting


# ---------------------------------------------------------------- links


def is_device_row(row):
    if row.ph != "X":
        return False
    return row.cat in DEVICE_CATS or row.cat == "mtia_ccp_events"


def is_launch(row):
    return row.ph == "X" and is_launch_cat(row.cat)


def is_launch_cat(cat):
    return cat is not None and (cat == "Runtime" or cat.endswith(("_runtime", "_driver")))


def choose_launch(candidates, ts):
    """Of (ts, index, row) in order: the last that is not later than ts."""
    place = bisect.bisect_right(candidates, ts, key=lambda candidate: candidate[0])
    return candidates[max(place - 1, 0)][2]


def innermost_op(launch, nesting, by_index):
    return by_index.get(nesting.op_of_launch.get(launch.index, -1))


def link(rows, nesting):
    by_index = {row.index: row for row in rows}
    launches = [row for row in rows if is_launch(row)]
    by_correlation = defaultdict(list)
    for row in sorted(launches, key=lambda row: (row.ts, row.index)):
        correlation = correlation_of(row)
        if correlation is not None:
            by_correlation[correlation].append((row.ts, row.index, row))
    devices = linked = with_op = total = 0
    ops = {}
    for row in filter(is_device_row, rows):
        devices += 1
        launch = op = None
        candidates = by_correlation.get(correlation_of(row))
        if candidates:
            linked += 1
            launch = choose_launch(candidates, row.ts)
            op = innermost_op(launch, nesting, by_index)
            ops[launch.index] = op
            with_op += op is not None
        total += (row.index + 1) * 1000003 + position(launch) * 10007 + position(op) * 101
    return {
        "device_rows": devices,
        "launches": len(launches),
        "linked": linked,
        "with_op": with_op,
        "checksum": total % MODULUS,
        "shared_id": count_shared_ids(rows, launches, nesting, by_index),
        "ext_check": check_external_ids(launches, ops, by_index),
    }


def count_shared_ids(rows, launches, nesting, by_index):
    tracks = {row.track for row in launches}
    if any(correlation_of(row) is not None for row in launches) or any(
        row.ph in "st" and row.track in tracks for row in rows
    ):
        return None
    calls = defaultdict(list)
    for launch in launches:
        calls[external_id_of(launch)].append(launch)
    linked = defaultdict(list)
    for row in filter(is_device_row, rows):
        external_id = external_id_of(row)
        if (
            correlation_of(row) is None
            and external_id is not None
            and len(calls[external_id]) == 1
            and calls[external_id][0].ts <= row.ts
        ):
            linked[external_id].append(calls[external_id][0])
    of_operators = {external_id_of(row) for row in rows if row.cat in OP_CATS}
    found = [
        call
        for number, same in linked.items()
        for call in same
        if len(same) == 1 or "GraphLaunch" in call.name or number not in of_operators
    ]
    return [len(found), sum(innermost_op(call, nesting, by_index) is not None for call in found)]


def position(row):
    return 0 if row is None else row.index + 1


def check_external_ids(launches, ops, by_index):
    if not any(own_external_id(launch) is not None for launch in launches):
        return None
    counts = dict.fromkeys(("equal", "differs", "launch_without", "no_op"), 0)
    for index, op in ops.items():
        external_id = own_external_id(by_index[index])
        if external_id is None:
            counts["launch_without"] += 1
        elif op is None:
            counts["no_op"] += 1
        elif external_id_of(op) == external_id:
            counts["equal"] += 1
        else:
            counts["differs"] += 1
    return counts


def own_external_id(launch):
    """The External id, if it is not only the correlation once more."""
    external_id = external_id_of(launch)
    return None if external_id == correlation_of(launch) else external_id


# ---------------------------------------------------------------- the rest


def count_cats(rows):
    cats = {}
    for row in rows:
        entry = cats.setdefault("(null)" if row.cat is None else row.cat, [0, 0])
        entry[0] += 1
        entry[1] += row.dur or 0
    return cats


def list_steps(rows):
    steps = []
    for row in rows:
        if row.ph == "X" and row.cat in STEP_CATS and is_text(row.name):
            match = STEP_NAME.fullmatch(row.name)
            if match:
                end = None if row.dur is None else row.ts + row.dur
                steps.append([int(match.group(1)), row.ts, end])
    return sorted(steps, key=lambda step: (step[0], step[1], step[2] or step[1]))


def count_counters(rows):
    counters = [row for row in rows if row.ph == "C"]
    return {"rows": len(counters), "values": sum(len(args_of(row.element)) for row in counters)}


def sum_memory(rows):
    memory = [row for row in rows if row.ph == "i" and row.name == "[memory]"]
    amounts = [args_of(row.element).get("Bytes") for row in memory]
    return {"rows": len(memory), "bytes": sum(n for n in amounts if type(n) is int)}


NO_WORK = {"M", "c", "s", "t", "f"}
DAY = 86_400 * 10**9


def work_times(rows, base):
    """Before pairing, which gives B and b rows a dur."""
    spans = [(row.ts, row.ts + max(row.dur or 0, 0)) for row in rows if row.ph not in NO_WORK]
    spans = [(start, end if end <= I64_MAX else start) for start, end in spans]
    unset = 0
    if type(base) is int and base > 0 and spans and min(spans)[0] == -base:
        spans, left_out = without(spans, -base)
        unset += left_out
    spans, left_out = without(spans, 0)
    unset += left_out
    if not spans:
        return {"start": None, "end": None, "unset": unset}
    return {
        "start": min(span[0] for span in spans),
        "end": max(span[1] for span in spans),
        "unset": unset,
    }


def without(spans, ts):
    """Spans, less those that start at ts if all others are a day away."""
    others = [span for span in spans if span[0] != ts]
    if len(others) == len(spans) or not others:
        return spans, 0
    start, end = min(span[0] for span in others), max(span[1] for span in others)
    if start - ts > DAY or ts - end > DAY:
        return others, len(spans) - len(others)
    return spans, 0


def base_time(document):
    base = document.get("baseTimeNanoseconds") if type(document) is dict else None
    return int(base) if type(base) is str and DIGITS.fullmatch(base) else base


def recount_events(elements, base=None):
    rows, skipped = read_rows(elements)
    times = work_times(rows, base)
    by_ph = Counter(row.ph for row in rows)
    pairs = pair(rows, "B", "E", lambda row: row.track)
    del pairs["without_key"]
    async_pairs = pair(rows, "b", "e", async_key)
    nest_reports, nesting = nest(rows)
    return {
        "kind": "trace",
        "elements": len(elements),
        "rows": len(rows),
        "skipped": dict(skipped),
        "by_ph": dict(by_ph),
        "by_cat": count_cats(rows),
        "pairs": pairs,
        "async_pairs": async_pairs,
        "links": link(rows, nesting),
        "steps": list_steps(rows),
        "times": times,
        "tracks": len({row.track for row in rows}),
        "flows": {ph: by_ph[ph] for ph in "stf"},
        "counters": count_counters(rows),
        "memory": sum_memory(rows),
        **nest_reports,
    }


def find_events(document):
    """The event list, else None."""
    if type(document) is dict:
        events = document.get("traceEvents")
        return events if type(events) is list else None
    if type(document) is list:
        if not document or any(type(item) is dict and "ph" in item for item in document):
            return document
    return None


def recount_document(mode, document):
    events = find_events(document)
    if events is not None:
        form = "object" if type(document) is dict else "array"
        return {"mode": mode, "form": form, **recount_events(events, base_time(document))}
    members = document if type(document) is dict else {}
    blobs = {key: members[key] for key in ("memory_blobs", "op_blobs") if key in members}
    if blobs:
        sizes = {key: len(blob) if type(blob) is list else 0 for key, blob in blobs.items()}
        return {"mode": mode, "kind": "mllm_perf", **sizes}
    return {"kind": "not_a_trace", "top": list(members)[:FIRST_KEYS]}


def recount(path):
    try:
        text = read_text(path)
    except (OSError, EOFError, zlib.error) as error:
        return {"file": path, "kind": "unreadable", "error": type(error).__name__}
    if text is None:
        return {"file": path, "kind": "not_a_trace", "top": []}
    mode, document = read_document(text)
    del text
    return {"file": path, **recount_document(mode, document)}


def main(paths):
    if not paths:
        sys.exit("usage: recount.py FILE...")
    gc.disable()  # the documents hold no cycles
    for path in paths:
        print(json.dumps(recount(path), sort_keys=True), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
