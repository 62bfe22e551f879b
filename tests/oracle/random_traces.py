#!/usr/bin/env python3
"""Write random traces in which every rule of reading meets every other one.

    random_traces.py FOLDER NUMBER      writes 0.json, 1.json, …; the same bytes each time

Times are few and small, so that events begin together, end together, have no length, and overlap;
ids are few, so that they repeat. Each fourth trace leaves begin events open. The tests compare what
`tracesql ingest` stores of them with what recount.py counts. Standard library only.
"""

import json
import random
import sys
from pathlib import Path

HOST_CATS = (
    "cpu_op",
    "cpu_op",
    "user_annotation",
    "python_function",
    "cuda_runtime",
    "cuda_driver",
    None,
    "other",
)
DEVICE_CATS = ("kernel", "kernel", "gpu_memcpy", "gpu_memset", "cuda_sync", "gpu_user_annotation")
THREADS = ((1, 1), (1, 2), (1, "1"), (2, 1), ("x", 0), (1, None))
STREAMS = ((0, 7), (0, 20), (1, 7))


def us(random, nanoseconds):
    """A time as one of the texts that mean it."""
    sign, (whole, rest) = "-" if nanoseconds < 0 else "", divmod(abs(nanoseconds), 1000)
    texts = [
        f"{sign}{whole}.{rest:03}",
        f'"{sign}{whole}.{rest:03}"',
        f"{nanoseconds}e-3",
        f"{sign}{whole}.{rest:03}000",
    ]
    if rest == 0:
        texts += [f"{sign}{whole}", f"{sign}{whole}.0"]
    return random.choice(texts[:1] * 8 + texts)


def identifier(random):
    return random.choice((1, 2, 3, 4, 5, 6, 7, 8, 9, "3", 0, -1, 4294967295, None, "x"))


def member(name, text):
    return f"{json.dumps(name)}: {text}"


class Trace:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.scale = self.random.choice((20, 200, 5000))
        self.base = self.random.choice((0, -40_000, 7_234_567_890_123_456_000))
        self.leaves_open = seed % 4 == 3
        self.elements = []

    def ts(self):
        return self.base + self.random.randrange(self.scale)

    def length(self):
        r = self.random
        return r.choice(
            (
                0,
                0,
                r.randrange(4),
                r.randrange(self.scale // 4 + 1),
                r.randrange(self.scale),
                -r.randrange(5),
            )
        )

    def add(self, ph, ts, track, cat=None, name=None, args=None, **more):
        members = [member("ph", json.dumps(ph)), member("ts", us(self.random, ts))]
        for key, value in (
            ("pid", track[0]),
            ("tid", track[1]),
            ("cat", cat),
            ("name", name),
            *more.items(),
        ):
            if value is not None:
                members.append(member(key, json.dumps(value)))
        if "dur_ns" in more:
            members[-1] = member("dur", us(self.random, more["dur_ns"]))
        if args is not None:
            members.append(member("args", json.dumps(args)))
        self.random.shuffle(members)
        self.elements.append("{" + ", ".join(members) + "}")

    def ids(self, *keys):
        return {key: identifier(self.random) for key in keys if self.random.random() < 0.8}

    def span(self):
        r = self.random
        if r.random() < 0.35:
            track, cat = r.choice(STREAMS), r.choice(DEVICE_CATS)
            args = self.ids("correlation", "External id", "stream")
        else:
            track, cat = r.choice(THREADS), r.choice(HOST_CATS)
            args = self.ids("External id", "Sequence number")
            if cat in ("cuda_runtime", "cuda_driver"):
                args |= self.ids("correlation")
        name = r.choice(
            (
                "a",
                "b",
                "cudaGraphLaunch",
                "ProfilerStep#1",
                "ProfilerStep#2",
                "nn.Module: M_0",
                'quo"te',
                "ünï",
            )
        )
        length = self.length()
        self.add(
            "X", self.ts(), track, cat, name, args, dur_ns=abs(length) if "Step" in name else length
        )

    def pair(self, begin, end, track, **key):
        r = self.random
        start = self.ts()
        name = r.choice("ab")
        ends = r.choice((name, name, "c", None))
        self.add(begin, start, track, key.pop("cat", "pair"), name, {"begin": 1}, **key)
        if not (self.leaves_open and r.random() < 0.3):
            self.add(
                end,
                start + abs(self.length()),
                track,
                "pair" if begin == "B" else "async",
                ends,
                {"end": 1},
                **key,
            )

    def element(self):
        r = self.random
        kind = r.random()
        track = r.choice(THREADS)
        if kind < 0.6:
            self.span()
        elif kind < 0.75:
            self.pair("B", "E", track)
        elif kind < 0.82:
            self.pair("b", "e", track, cat="async", id=r.choice((1, 2, "3", "s")))
        elif kind < 0.9:
            self.add(
                r.choice("iIR"),
                self.ts(),
                track,
                "mark",
                r.choice(("m", "[memory]")),
                {"Bytes": r.choice((8, -8, 64)), "Addr": 1},
            )
        elif kind < 0.94:
            self.add("C", self.ts(), track, None, r.choice("cd"), {"v": r.randrange(9), "w": 1.5})
        elif kind < 0.98:
            self.add(
                r.choice("stf"),
                self.ts(),
                track,
                "flow",
                "f",
                None,
                id=r.randrange(4),
                bp=r.choice(("e", None)),
            )
        else:
            self.elements.append(
                r.choice(
                    (
                        '{"ph": "X", "name": "no time"}',
                        "7",
                        "null",
                        '{"ts": 1}',
                        '{"ph": "X", "ts": "never"}',
                    )
                )
            )

    def text(self):
        for _ in range(self.random.randrange(1, 250)):
            self.element()
        # A begin and its end were added together; the order in the file means nothing.
        self.random.shuffle(self.elements)
        return '{"traceEvents": [\n' + ",\n".join(self.elements) + "\n]}\n"


def main(folder, number):
    for seed in range(int(number)):
        (Path(folder) / f"{seed}.json").write_text(Trace(seed).text(), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
