#!/usr/bin/env python3
"""Recount profiler traces exactly, without any code of tracesql.

    recount.py FILE...        one JSON object per file and line, keys sorted

The tests compare these figures with what `tracesql ingest` stored. Only the
standard library is used. No time and no id ever passes through a float. The
package `recounting` holds the parts.

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

import gc
import json
import re
import sys
import zlib
from collections import Counter

from recounting.categories import STEP_CATS
from recounting.links import link
from recounting.nesting import nest
from recounting.reading import find_events, read_document, read_text
from recounting.rows import async_key, pair, read_rows
from recounting.values import DIGITS, I64_MAX, args_of, is_text

FIRST_KEYS = 12
STEP_NAME = re.compile(r"ProfilerStep ?#([0-9]+)")


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
