#!/usr/bin/env python3
"""Fold the stacks of profiler traces exactly, without any code of tracesql.

    stacks.py FILE...            one JSON object per file and line
    stacks.py --lines FILE       the folded stacks themselves: stack, count, self ns, separated by
                                 tabs

The rule is that of `--rule self`: complete events (X) longer than 0, per (pid, tid), in the order
of start, longest first, file. An event's caller is the innermost event that encloses it fully; its
value is its length less the union of the events that it calls. Files are read by recount.py, with
exact times.

Of each file: the number of different stacks, events and partial overlaps, the sum of all values and
the busy time (the union of the events of each thread, added up), and the Adler-32 of the lines
above, sorted by their bytes. Besides the digests of the profiles that torch2pprof and trace2profile
make of it (profiles.py).
"""

import gc
import json
import sys
import unicodedata
import zlib
from collections import defaultdict

import profiles
from recounting import reading, values


def fold(name):
    """A frame as the folded format can hold it."""
    if name is None:
        return "(no name)"
    if not isinstance(name, str):
        name = json.dumps(name, separators=(",", ":"), ensure_ascii=False)
    if name == "":
        return "(empty)"
    # Control characters, and halves of surrogate pairs, which are no characters.
    return "".join(
        ":" if c == ";" else "\ufffd" if unicodedata.category(c) in ("Cc", "Cs") else c
        for c in name
    )


def threads(elements):
    """Events by thread: [(start, end, index, name)]."""
    found = defaultdict(list)
    for index, element in enumerate(elements):
        if type(element) is not dict or element.get("ph") != "X":
            continue
        start, length = values.to_ns(element.get("ts")), values.to_ns(element.get("dur"))
        if start is None or length is None or length <= 0 or start + length > values.I64_MAX:
            continue
        thread = (values.identity(element.get("pid")), values.identity(element.get("tid")))
        found[thread].append((start, start + length, index, element.get("name")))
    for events in found.values():
        events.sort(key=lambda e: (e[0], -e[1], e[2]))
    return found


def stacks_of(events):
    """Stack and self time of each event of a thread; the number of partial overlaps."""
    # Of an open event: end, the end of what its calls cover so far, its place in `found`.
    opened, found, overlaps = [], [], 0
    for start, end, _, name in events:
        while opened and opened[-1][0] <= start:
            opened.pop()
        overlaps += bool(opened) and opened[-1][0] < end
        caller = next((o for o in reversed(opened) if o[0] >= end), None)
        stack = (fold(name),)
        if caller:
            stack = found[caller[2]][0] + stack
            if end > caller[1]:
                found[caller[2]][1] -= end - max(start, caller[1])
                caller[1] = end
        opened.append([end, start, len(found)])
        found.append([stack, end - start])
    return found, overlaps


def busy(events):
    total, covered = 0, None
    for start, end, _, _ in events:
        if covered is None or start > covered:
            total, covered = total + end - start, end
        elif end > covered:
            total, covered = total + end - covered, end
    return total


def folded(elements):
    sums, facts = {}, {"events": 0, "overlaps": 0, "busy_ns": 0}
    for events in threads(elements).values():
        found, overlaps = stacks_of(events)
        facts["events"] += len(events)
        facts["overlaps"] += overlaps
        facts["busy_ns"] += busy(events)
        for stack, own in found:
            entry = sums.setdefault(stack, [0, 0])
            entry[0] += 1
            entry[1] += own
    lines = sorted(
        f"{';'.join(stack)}\t{count}\t{own}\n".encode("utf-8", "replace")
        for stack, (count, own) in sums.items()
    )
    facts["self_ns"] = sum(own for _, own in sums.values())
    facts["stacks"] = len(lines)
    return facts, lines


def elements_of(path):
    text = reading.read_text(path)
    if text is None:
        return None
    _, document = reading.read_document(text)
    return reading.find_events(document)


def main(args):
    show = args[:1] == ["--lines"]
    for path in args[show:]:
        try:
            elements = elements_of(path)
        except Exception as error:
            print(json.dumps({"path": path, "kind": "unreadable", "error": str(error)}), flush=True)
            continue
        if elements is None:
            print(json.dumps({"path": path, "kind": "other"}), flush=True)
            continue
        facts, lines = folded(elements)
        if show:
            sys.stdout.buffer.writelines(lines)
        else:
            print(
                json.dumps(
                    {
                        "path": path,
                        "kind": "trace",
                        **facts,
                        "adler32": zlib.adler32(b"".join(lines)),
                        **profiles.digests(elements),
                    }
                ),
                flush=True,
            )
        elements = None
        gc.collect()


if __name__ == "__main__":
    main(sys.argv[1:])
