#!/usr/bin/env python3
"""Write a big trace by repeating a small one.

    bench/make_trace.py [SOURCE] OUT --size 1GB          # or 300MB, 5GB: bytes of plain JSON
    bench/make_trace.py [SOURCE] OUT --copies 50
    bench/make_trace.py [SOURCE] OUT_%d.json --size 1GB --ranks 4      # one file per rank, each of
                                                                       that size

SOURCE is a Kineto trace, .json or .json.gz; without it fixtures/synthetic_gpu_rank0.json.gz is
taken.  OUT ending in .gz is compressed. Standard library only, deterministic, several hundred MB/s
of plain output on one core.

The text of the source is kept byte for byte; the first copy is the source itself.  In copy k of the
events only these numbers change:

    ts, external ts      + k * period, the period being the source's time span rounded up to a whole
                         millisecond
    ids                  + k * 10^w, w digits being enough for every id of the source: correlation,
                         External id, flow id, Sequence number, Ev Idx, Python id, Python parent id
                         and the others in IDS; 0 and -1 (none) stay, except for Ev Idx and Sequence
                         number
    ProfilerStep#N       + k * number of steps

Written once: everything around the events, metadata events, the profiler's own span (made longer)
and its start and end marks. So events, distinct ids, steps and sums of dur grow by exactly the
number of copies, while names, devices and threads stay.  Addresses and totals of [memory] events
are repeated as they are.  With --ranks, rank r is one millisecond * r later and the job's
description names all ranks.

Why it is fast: both steps are powers of ten, so the digits that change stand in front of digits
that do not, and all numbers of one kind (or of one millisecond) share them.  A copy is one join
over ready pieces of text.
"""

import argparse
import gzip
import json
import os
import re
import sys
import time

DEFAULT_SOURCE = os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "..", "fixtures", "synthetic_gpu_rank0.json.gz"
)

UNIT_US = 1000  # ts / UNIT_US is the part of a ts that changes
UNIT_DIGITS = 3
IDS = (
    "External id", "external id", "correlation", "Sequence number", "Ev Idx",
        "Profiler Event Index", "Python id", "Python parent id",
    "python_caller_id", "Record function id", "wait_on_cuda_event_record_corr_id",
)  # fmt: skip
ZERO_IS_AN_ID = ("Ev Idx", "Profiler Event Index", "Sequence number")
FLOW_PHASES = "stfbne"

TS = re.compile(r'(?<!\\)"ts": ?(\d+)')
DUR = re.compile(r'(?<!\\)"dur": ?(\d+)')
FLOW_ID = re.compile(r'(?<!\\)"id": ?(\d+)')
ARG_ID = re.compile(r'(?<!\\)"(%s)": ?(\d+)' % "|".join(map(re.escape, IDS)))
EXTERNAL_TS = re.compile(r'(?<!\\)"external ts": ?(\d+)')
STEP = re.compile(r'(?<!\\)"name": ?"ProfilerStep#(\d+)"')


# ---- reading the source --------------------------------------------------------------------------


class Event:
    """One element of traceEvents: where its text is, and what it says."""

    def __init__(self, start, end, value):
        self.start, self.end, self.value = start, end, value

    def once(self):
        """Is this written once only?"""
        v = self.value
        return (
            v.get("ph") == "M"
            or v.get("cat") == "Trace"
            or str(v.get("name")).startswith(("Iteration Start", "Record Window End"))
        )

    def at_the_end(self):
        return self.once() and (
            self.value.get("cat") == "Trace"
            or str(self.value.get("name")).startswith("Record Window End")
        )


def read_text(path):
    with open(path, "rb") as f:
        data = f.read()
    return (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode("utf-8")


def read_events(text):
    """The elements of traceEvents with their places in the text."""
    opening = re.search(r'"traceEvents"\s*:\s*\[', text) or re.match(r"\s*\[", text)
    if not opening:
        sys.exit("make_trace: no traceEvents in the source")
    decoder, space, events, at = json.JSONDecoder(), re.compile(r"[\s,]*"), [], opening.end()
    while True:
        at = space.match(text, at).end()
        if text[at : at + 1] in ("]", ""):
            return events
        value, end = decoder.raw_decode(text, at)
        events.append(Event(at, end, value))
        at = end


def one(pattern, event, text, what):
    """The place of a number that must be there exactly once."""
    found = list(pattern.finditer(text, event.start, event.end))
    if len(found) != 1:
        sys.exit(
            "make_trace: cannot tell the %s of this event: %s"
            % (what, text[event.start : event.end][:200])
        )
    return found[0].span(1)


def numbers(event, text):
    """(start, end, kind) of each number that changes from copy to copy, in the order of the
    text."""
    v = event.value
    out = [one(TS, event, text, "ts") + ("ts",)]
    if v.get("ph") in FLOW_PHASES and "id" in v:
        out.append(one(FLOW_ID, event, text, "id") + ("id",))
    for m in ARG_ID.finditer(text, event.start, event.end):
        if m.group(2) != "0" or m.group(1) in ZERO_IS_AN_ID:
            out.append(m.span(2) + ("id",))
    out += [m.span(1) + ("ts",) for m in EXTERNAL_TS.finditer(text, event.start, event.end)]
    if str(v.get("name")).startswith("ProfilerStep#"):
        out.append(one(STEP, event, text, "step") + ("step",))
    return sorted(out)


# ---- the repeated part ---------------------------------------------------------------------------


class Body:
    """The repeated events as a list of pieces; pieces that change are made again for each copy,
    once per distinct value."""

    def __init__(self, text, events, separator):
        self.places = {}  # (kind, value) -> index in pieces; kind "text" is fixed
        self.order = []
        self.first, self.last = sys.maxsize, 0  # us
        places = [(e, numbers(e, text)) for e in events]
        ids = [int(text[a:b]) for _, found in places for a, b, kind in found if kind == "id"]
        steps = [int(text[a:b]) for _, found in places for a, b, kind in found if kind == "step"]
        self.id_digits = len(str(max(ids, default=0)))
        if self.id_digits > 11:
            sys.exit("make_trace: ids of more than 11 digits leave no room for copies")
        self.steps = max(steps) - min(steps) + 1 if steps else 1
        for event, found in places:
            self.add(event, found, text, separator)
        self.period = (self.last // UNIT_US + 1) - self.first // UNIT_US + 1  # in units

    def add(self, event, found, text, separator):
        """Cut one event into pieces; digits that stay are joined to the text after them."""
        ts, dur = int(event.value["ts"]), int(event.value.get("dur") or 0)
        self.first, self.last = min(self.first, ts), max(self.last, ts + dur + 1)
        at, stay = event.start, separator
        for start, end, kind in found:
            digits = text[start:end]
            self.piece("text", stay + text[at:start])
            if kind == "ts":
                self.piece("ts", int(digits) // UNIT_US)
                stay = digits[-UNIT_DIGITS:].zfill(UNIT_DIGITS)
            elif kind == "id":
                self.piece("id", 0)
                stay = digits.zfill(self.id_digits)
            else:
                self.piece("step", int(digits))
                stay = ""
            at = end
        self.piece("text", stay + text[at : event.end])

    def piece(self, kind, value):
        self.order.append(self.places.setdefault((kind, value), len(self.places)))

    def copies(self, first, count, skew=0):
        """The bytes of copies first .. first+count-1."""
        pieces = [v.encode() if kind == "text" else b"" for kind, v in self.places]
        changing = [(i, kind, v) for i, (kind, v) in enumerate(self.places) if kind != "text"]
        order, get = self.order, pieces.__getitem__
        for k in range(first, first + count):
            made = {"id": k, "ts": k * self.period + skew, "step": k * self.steps}
            for i, kind, value in changing:
                pieces[i] = b"%d" % (value + made[kind])
            yield b"".join(map(get, order))

    def __len__(self):
        """About the bytes of one copy."""
        return len(next(self.copies(1, 1)))


# ---- writing -------------------------------------------------------------------------------------


def later(text, event, us):
    """The text of an event, its ts moved by whole us."""
    start, end = one(TS, event, text, "ts")
    return text[event.start : start] + str(int(text[start:end]) + us) + text[end : event.end]


def longer(text, event, us, move):
    """The same with a longer dur."""
    moved = later(text, event, move)
    return DUR.sub(
        lambda m: m.group()[: -len(m.group(1))] + str(int(m.group(1)) + us), moved, count=1
    )


def closing(text, event, grown, move):
    """The profiler's span gets longer, its end mark moves."""
    return (
        longer(text, event, grown, move)
        if event.value.get("cat") == "Trace"
        else later(text, event, grown + move)
    )


def for_rank(text, rank, ranks):
    """The job's description for one rank of many."""
    everyone = str(list(range(ranks)))
    text = re.sub(r'("rank": )\d+', r"\g<1>%d" % rank, text, count=1)
    text = re.sub(r'("(?:world_size|pg_size|Group size)": )\d+', r"\g<1>%d" % ranks, text)
    text = re.sub(r'("ranks": )\[[\d, ]*\]', r"\g<1>" + everyone, text)
    return re.sub(r'("Process Group Ranks": )"\[[\d, ]*\]"', r'\g<1>"%s"' % everyone, text)


class Plan:
    """A source, split for repetition."""

    def __init__(self, text):
        self.text = text
        self.events = read_events(text)
        repeated = [e for e in self.events if not e.once()]
        if not repeated:
            sys.exit("make_trace: no events to repeat")
        self.separator = (
            text[self.events[0].end : self.events[1].start] if len(self.events) > 1 else ",\n"
        )
        self.repeated, self.body = repeated, Body(text, repeated, self.separator)

    def copies_for(self, size):
        return max(1, round((size - len(self.text)) / len(self.body)) + 1)

    def write(self, out, copies, rank=0):
        """Head, what is written once, the source's own events, copies 1.., span and end mark,
        tail."""
        text, move = self.text, rank * UNIT_US
        write = out.write
        write(text[: self.events[0].start].encode())
        first = [
            later(text, e, move) if "ts" in e.value else text[e.start : e.end]
            for e in self.events
            if e.once() and not e.at_the_end()
        ]
        first += [later(text, e, move) for e in self.repeated]
        write(self.separator.join(first).encode())
        for data in self.body.copies(1, copies - 1, rank):
            write(data)
        grown = (copies - 1) * self.body.period * UNIT_US
        for e in self.events:
            if e.at_the_end():
                write((self.separator + closing(text, e, grown, move)).encode())
        write(text[self.events[-1].end :].encode())


def create(path, plan, copies, rank=0):
    with open(path, "wb", buffering=1 << 20) as f:
        if path.endswith(".gz"):
            with gzip.GzipFile("", "wb", 1, f, mtime=0) as z:
                plan.write(z, copies, rank)
        else:
            plan.write(f, copies, rank)


def parse_size(text):
    m = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kKMG]?)B?", text)
    if not m:
        raise argparse.ArgumentTypeError("cannot read size %r: try 300MB or 5GB" % text)
    return float(m.group(1)) * {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}[m.group(2).replace("K", "k")]


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("source", nargs="?", default=DEFAULT_SOURCE)
    p.add_argument("out")
    how = p.add_mutually_exclusive_group(required=True)
    how.add_argument("--size", type=parse_size, help="bytes of plain JSON: 300MB, 1GB")
    how.add_argument("--copies", type=int)
    p.add_argument("--ranks", type=int, default=1)
    a = p.parse_args()
    if a.ranks > 1 and "%d" not in a.out:
        p.error("with --ranks the output's name needs a %d")
    if a.copies is not None and a.copies < 1:
        p.error("--copies must be 1 or more")
    text = read_text(a.source)
    for rank in range(a.ranks):
        plan = Plan(for_rank(text, rank, a.ranks) if a.ranks > 1 else text)
        copies = a.copies or plan.copies_for(a.size)
        path = a.out.replace("%d", str(rank))
        began = time.perf_counter()
        create(path, plan, copies, rank)
        size, seconds = os.path.getsize(path), time.perf_counter() - began
        events = len(plan.events) + (copies - 1) * len(plan.repeated)
        print(
            "%s: %d copies, %d events, %d bytes, %.2f s" % (path, copies, events, size, seconds),
            file=sys.stderr,
        )


if __name__ == "__main__":
    main()
