#!/usr/bin/env python3
"""The device timeline of profiler traces, counted again without any code of tracesql.

    tests/oracle/gpu_timeline.py ROOT PATH... > tests/expected/gpu_timeline.tsv

Python 3.11, standard library only. Paths are looked up below ROOT and below the project; those
without device work are left out. One line for all device rows of a trace (`all`), one for those
that TraceLens links to a call (`tracelens`; none where it links nothing), one per device
(`device`). The classes are those of TraceLens, counted in another way than in
sql/compat/tracelens/tracelens_gpu_timeline.sql: every stretch between two neighbouring instants is
put into the first class that is open in it. Times are exact nanoseconds.
"""

import gzip
import json
import re
import sys
from decimal import Decimal
from pathlib import Path

DEVICE = {"kernel", "gpu_memcpy", "gpu_memset"}
LAUNCH = {"cuda_runtime", "cuda_driver"}
GRAPH = {"cudaGraphLaunch", "hipGraphLaunch"}
BUFFER = "__amd_rocclr_copyBuffer"
COPIES = {
    f"MEMORY_COPY_{way}" for way in ("HOST_TO_DEVICE", "DEVICE_TO_HOST", "DEVICE_TO_DEVICE")
} | {BUFFER, BUFFER + "Rect", BUFFER + "Aligned", BUFFER + "RectAligned"}
FIGURES = [
    "computation",
    "exposed_comm",
    "exposed_memcpy",
    "busy",
    "idle",
    "total",
    "total_comm",
    "total_memcpy",
]


def nanoseconds(microseconds):
    return int((Decimal(microseconds) * 1000).to_integral_value())


def elements(path):
    opened = gzip.open(path, "rb") if path.suffix == ".gz" else open(path, "rb")
    with opened as file:
        document = json.loads(file.read(), parse_float=str)
    events = document.get("traceEvents", []) if isinstance(document, dict) else document
    return [e for e in events if isinstance(e, dict)]


def kind(event):
    name, copy = event["name"], event["cat"] == "gpu_memcpy"
    if copy or event["cat"] == "kernel" and name.removesuffix(".kd") in COPIES:
        return "memcpy"
    return "comm" if re.search("nccl|rccl|cross_device_reduce", name, re.I) else "computation"


def figures(rows):
    changes = {}
    for start, end, what in rows:
        changes.setdefault(start, []).append((what, 1))
        changes.setdefault(end, []).append((what, -1))
    sums = dict.fromkeys(FIGURES, 0)
    open_now = dict.fromkeys(["computation", "comm", "memcpy"], 0)
    instants = sorted(changes)
    for at, following in zip(instants, instants[1:] + instants[-1:]):
        for what, change in changes[at]:
            open_now[what] += change
        length = following - at
        sums["total"] += length
        sums["total_comm"] += length if open_now["comm"] else 0
        sums["total_memcpy"] += length if open_now["memcpy"] else 0
        first = next((what for what in open_now if open_now[what]), None)
        sums["busy" if first else "idle"] += length
        if first:
            sums[first if first == "computation" else "exposed_" + first] += length
    return [sums[name] for name in FIGURES]


def linked(events):
    """Positions of the device rows that TraceLens links: by the arrow with the id of a call, of
    graph launches all rows with it."""
    calls = [e for e in events if e.get("cat") in LAUNCH]
    first = next((c for c in calls if "launch" in c["name"].lower()), None)
    key = (
        "correlation"
        if first is not None and "correlation" in first.get("args", {})
        else "External id"
    )
    starts, ends, last, by_id = set(), {}, {}, {}
    for position, event in enumerate(events):
        if event.get("cat") == "ac2g":
            if event["ph"] == "s":
                starts.add(event["id"])
            elif event["ph"] == "f":
                ends[event["id"]] = event.get("pid"), event.get("tid")
            continue
        number = (event.get("args") or {}).get(key)
        if number is not None:
            last[event.get("pid"), event.get("tid"), number] = position
            if event.get("cat") in DEVICE:
                by_id.setdefault(number, []).append(position)
    found = set()
    for call in calls:
        number = (call.get("args") or {}).get(key)
        if call["name"] in GRAPH:
            found.update(by_id.get(number, []))
        elif number in starts and number in ends:
            found.add(last.get((*ends[number], number)))
    return [e for position, e in enumerate(events) if position in found and e.get("cat") in DEVICE]


def lines(name, path):
    events = elements(path)
    device = [e for e in events if e.get("ph") == "X" and e.get("cat") in DEVICE]

    def line(rows, which, number=""):
        spans = [
            (nanoseconds(e["ts"]), nanoseconds(e["ts"]) + nanoseconds(e.get("dur", 0)), kind(e))
            for e in rows
        ]
        print(name, which, number, len(rows), *figures(spans), sep="\t")

    if device:
        line(device, "all")
    if counted := linked(events):
        line(counted, "tracelens")
    for number in sorted({str(e.get("args", {}).get("device", "NULL")) for e in device}):
        line(
            [e for e in device if str(e.get("args", {}).get("device", "NULL")) == number],
            "device",
            number,
        )


def main():
    root, project = Path(sys.argv[1]), Path(__file__).parents[2]
    print(
        "trace", "rows", "device", "gpu_events", *(f"{name}_time_ns" for name in FIGURES), sep="\t"
    )
    for name in sys.argv[2:]:
        path = next((base / name for base in (project, root) if (base / name).is_file()), None)
        if path is None:
            sys.exit(f"{name} is not there")
        lines(name, path)


if __name__ == "__main__":
    main()
