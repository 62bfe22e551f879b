#!/usr/bin/env python3
"""Profiles as torch2pprof and trace2profile make them, counted without any code of tracesql.

    profiles.py FILE.pb...       digests of profiles that these tools wrote, one JSON object per
                                 file and line

`inclusive` is torch2pprof's rule: complete events (X) longer than 0, per tid alone, in the order of
start; an event's callers are those open that end no earlier than it does; its value is 1 and its
whole length. torch2pprof leaves open which of equal starts is first; here it is the one first in
the file. `flat` is trace2profile's rule: everything with a length is one frame with its length.
Both compute in floating point microseconds and cut to nanoseconds.

A digest is the number of stacks, and of those whose values are all 0, which are left out of the
rest, the sum of the last value, and the Adler-32 of the sorted lines: frames (name, tab, category)
joined by ";;", a tab, and values separated by blanks. It is null where the tool fails, on times
that are no numbers.
"""

import gzip
import json
import sys
import zlib
from collections import defaultdict


def number(value):
    """A time in microseconds as these tools read it: text that holds a number is no number to
    them."""
    if type(value) is int:
        return value
    if type(value) in (bool, str) or value is None:
        raise ValueError("not a number")
    return float(value)


def frame(element, default):
    name, cat = (
        element[key] if isinstance(element.get(key), str) else default for key in ("name", "cat")
    )
    return f"{name}\t{cat}"


def inclusive(elements):
    threads = defaultdict(list)
    for element in elements:
        if element.get("ph") == "X" and "dur" in element and number(element["dur"]) > 0:
            tid = element.get("tid", 0)
            threads[tid if isinstance(tid, str) else int(number(tid))].append(
                (number(element["ts"]), number(element["dur"]), frame(element, ""))
            )
    sums = defaultdict(lambda: [0, 0])
    for events in threads.values():
        opened = []
        for start, length, name in sorted(events, key=lambda event: event[0]):
            end = start + length
            while opened and opened[-1][0] < start:
                opened.pop()
            opened = [event for event in opened if event[0] >= end] + [(end, name)]
            entry = sums[";;".join(name for _, name in opened)]
            entry[0] += 1
            entry[1] += int(length * 1000)
    return sums


def flat(elements):
    sums = defaultdict(lambda: [0])
    for element in elements:
        if "dur" in element:
            sums[frame(element, "unknown")][0] += int(number(element["dur"]) * 1000)
    return sums


def digest(sums):
    lines = sorted(
        f"{stack}\t{' '.join(map(str, values))}\n".encode("utf-8", "replace")
        for stack, values in sums.items()
        if any(values)
    )
    return {
        "stacks": len(sums),
        "zeros": len(sums) - len(lines),
        "ns": sum(v[-1] for v in sums.values()),
        "adler32": zlib.adler32(b"".join(lines)),
    }


def digests(elements):
    """Digests by rule."""
    elements = [element for element in elements if type(element) is dict]
    found = {}
    for rule in (inclusive, flat):
        try:
            found[rule.__name__] = digest(rule(elements))
        except (ValueError, KeyError, TypeError, OverflowError):
            found[rule.__name__] = None
    return found


def fields(message):
    """Fields of a protobuf message that are numbers or bytes: number, value."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 2:
            length = varint()
            yield key >> 3, message[at : at + length]
            at += length
        else:
            raise ValueError(f"wire type {key & 7}")


def numbers(value):
    """Values of a repeated number, packed or not."""
    if type(value) is int:
        return [value]
    found, number, shift = [], 0, 0
    for byte in value:
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            found.append(number)
            number = shift = 0
    return found


def profile(path):
    data = open(path, "rb").read()
    data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    samples, locations, functions, strings = [], {}, {}, []
    for field, value in fields(data):
        if field == 2:
            samples.append(list(fields(value)))
        elif field == 4:
            of = list(fields(value))
            line = dict(fields(next(v for f, v in of if f == 4)))
            locations[dict(of)[1]] = line[1]
        elif field == 5:
            functions[dict(fields(value))[1]] = dict(fields(value))
        elif field == 6:
            strings.append(value.decode())
    sums = {}
    for sample in samples:
        ids = [n for field, value in sample if field == 1 for n in numbers(value)]
        values = [n for field, value in sample if field == 2 for n in numbers(value)]
        names = (functions[locations[n]] for n in reversed(ids))
        stack = ";;".join(f"{strings[f.get(2, 0)]}\t{strings[f.get(4, 0)]}" for f in names)
        sums[stack] = [a + b for a, b in zip(sums.get(stack, [0] * len(values)), values)]
    return digest(sums)


if __name__ == "__main__":
    for path in sys.argv[1:]:
        print(json.dumps({"path": path, **profile(path)}))
