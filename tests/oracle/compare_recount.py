#!/usr/bin/env python3
"""Views that compare two traces, of collectives and of GPU use over time, against a second count
from the JSON of the fixtures.

    compare_recount.py TRACESQL

operator_diff, kernel_diff, module_diff, collectives, stragglers and gpu_utilization_over_time of
the two ranks of each job among the fixtures, counted again in whole nanoseconds, without any code
of tracesql. Every row and column must be equal, none may be there on one side only; otherwise the
exit status is 1. Standard library only.
"""

import collections
import fractions
import functools
import gzip
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = tempfile.TemporaryDirectory()
STORE = WORK.name + "/store"
JOBS = (
    ("ddp_rank0.pt.trace", "ddp_rank1.pt.trace"),
    ("synthetic_gpu_rank0", "synthetic_gpu_rank1"),
)
COLLECTIVES = {
    f"{lib}:{op}"
    for lib in ("nccl", "gloo")
    for op in ("broadcast", "reduce", "all_reduce", "all_gather", "reduce_scatter")
}
REST = "(unattributed)"
TALLY, WRONG = collections.Counter(), []


def nanoseconds(text):
    ns = fractions.Fraction(text) * 1000
    assert ns.denominator == 1, text
    return int(ns)


class Trace:
    """A trace: complete events with whole nanoseconds, nested on their threads, and device work
    with its launch."""

    def __init__(self, name):
        text = gzip.open(ROOT / f"fixtures/{name}.json.gz", "rt").read()
        document = json.loads(text, parse_float=str)
        self.base = document.get("baseTimeNanoseconds", 0)
        self.rank = document["distributedInfo"]["rank"]
        self.world = document["distributedInfo"]["world_size"]
        self.events, self.work, launches = [], [], {}
        for at, e in enumerate(document["traceEvents"]):
            if e["ph"] != "X":
                continue
            e = dict(
                e,
                id=at,
                start=nanoseconds(e["ts"]),
                length=nanoseconds(e["dur"]),
                args=e.get("args", {}),
            )
            e["end"] = e["start"] + e["length"]
            self.events.append(e)
            if e["cat"] in ("cuda_runtime", "cuda_driver"):
                launches[e["args"]["correlation"]] = e
            elif e["cat"] in ("kernel", "gpu_memcpy", "gpu_memset"):
                self.work.append(e)
        self.by_id = {e["id"]: e for e in self.events}
        for e in self.work:
            e["launch"] = launches.get(e["args"].get("correlation"))

    def around(self, kinds):
        """A function: the innermost of these events that holds an event on its thread. Of two at
        the same time the later one in the file is inside."""
        threads = collections.defaultdict(list)
        for e in kinds:
            threads[e["pid"], e["tid"]].append(e)

        @functools.cache
        def of(at):
            inner = self.by_id[at]
            held = [
                e
                for e in threads[inner["pid"], inner["tid"]]
                if e["start"] <= inner["start"]
                and inner["end"] <= e["end"]
                and e is not inner
                and (
                    e["length"] > inner["length"]
                    or e["length"] == inner["length"]
                    and e["id"] < at
                    or inner["cat"].startswith("cuda_")
                )
            ]
            return min(held, key=lambda e: (e["length"], -e["id"]), default=None)

        return lambda e: of(e["id"])


def is_step(e):
    return e["name"].startswith("ProfilerStep#")


def node(e):
    """What operators' figures take for a call: operator, module, mark, other, or None for what they
    do not see."""
    if e["cat"] == "python_function":
        return "module" if "Python module id" in e["args"] else None
    if e["cat"] not in ("cpu_op", "user_annotation"):
        return None
    if is_step(e):
        return "step"
    if e["name"].startswith(("enumerate(DataLoader)#", "Optimizer.", "[pl][")):
        return "other"
    if e["cat"] == "cpu_op":
        return "operator"
    return "mark" if e["name"] in COLLECTIVES else None


def operators(trace):
    """By name: calls, host total and self, device total and self."""
    calls = [e for e in trace.events if node(e)]
    owners = [
        e
        for e in calls
        if node(e) in ("operator", "mark") or node(e) == "other" and e["cat"] == "cpu_op"
    ]
    around, owner_of = trace.around(calls), trace.around(owners)
    figures = {
        e["id"]: {"call": e, "inside": 0, "children": 0, "own": 0, "all": 0, "parent": around(e)}
        for e in calls
    }
    for f in figures.values():
        if f["parent"]:
            figures[f["parent"]["id"]]["inside"] += f["call"]["length"]
            figures[f["parent"]["id"]]["children"] += 1
    launched = collections.Counter()
    for e in trace.work:
        if e["launch"]:
            launched[e["launch"]["id"]] += e["length"]
    rest = sum(e["length"] for e in trace.work)
    for e in trace.events:
        if e["cat"] in ("cuda_runtime", "cuda_driver"):
            owner = owner_of(e)
            if owner:
                figures[owner["id"]]["inside"] += e["length"]
                figures[owner["id"]]["own"] += launched[e["id"]]
                at = owner
                while at:
                    figures[at["id"]]["all"] += launched[e["id"]]
                    at = figures[at["id"]]["parent"]
    found = collections.defaultdict(lambda: [0] * 5)
    for f in figures.values():
        e, parent = f["call"], f["parent"]
        if node(e) != "operator":
            continue
        # One that is alone inside one of its name counts as one with it.
        merged = (
            parent
            and node(parent) == "operator"
            and parent["name"] == e["name"]
            and figures[parent["id"]]["children"] == 1
        )
        whole = [
            0 if merged else 1,
            0 if merged else e["length"],
            e["length"] - f["inside"],
            0 if merged else f["all"],
            f["own"],
        ]
        found[e["name"]] = [a + b for a, b in zip(found[e["name"]], whole)]
        rest -= f["own"]
    if trace.work:
        found[REST] = [0, 0, 0, rest, rest]
    return found


def modules(trace):
    """By path: calls, host total and self, device total and self."""
    frames = [e for e in trace.events if node(e) == "module"]
    calls = [e for e in trace.events if node(e)]
    around, module_of = trace.around(calls), trace.around(frames)
    parents = {e["id"]: module_of(e) for e in frames}
    inside = collections.Counter()
    for e in calls:
        if around(e):
            inside[around(e)["id"]] += e["length"]
    found = collections.defaultdict(lambda: [0] * 5)

    def path(e):
        name = e["name"].replace("nn.Module: ", "")
        return (f"{path(parents[e['id']])}." if parents[e["id"]] else "") + name

    for e in frames:
        row = found[path(e)]
        found[path(e)] = [
            row[0] + 1,
            row[1] + e["length"],
            row[2] + e["length"] - inside[e["id"]],
            row[3],
            row[4],
        ]
    rest = 0
    for e in trace.work:
        at = e["launch"] and module_of(e["launch"])
        if at:
            found[path(at)][4] += e["length"]
        else:
            rest += e["length"]
        while at:
            found[path(at)][3] += e["length"]
            at = parents[at["id"]]
    if rest and frames:
        found[None] = [0, 0, 0, rest, rest]
    return found


def kernels(trace):
    found = collections.defaultdict(lambda: [0, 0])
    for e in trace.work:
        if e["cat"] == "kernel":
            found[e["name"]] = [found[e["name"]][0] + 1, found[e["name"]][1] + e["length"]]
    return found


def kind(name):
    return next(
        (
            k
            for k in ("reduce_scatter", "all_reduce", "all_gather", "broadcast")
            if k.replace("_", "") in name.replace("_", "").lower()
        ),
        name,
    )


def bytes_of(dtype):
    return {"float": 4, "int": 4, "long int": 8, "half": 2, "bfloat16": 2}[dtype.lower()]


def collectives(trace):
    """By event: what and where, start, duration, bytes in and out, group size."""
    found = {}
    for e in trace.events:
        a = e["args"]
        if e["cat"] == "kernel" and e["name"].startswith("nccl"):
            size = bytes_of(a["dtype"])
            found[e["id"]] = [
                "device",
                kind(a["Collective name"]),
                e["start"],
                e["length"],
                a["In msg nelems"] * size,
                a["Out msg nelems"] * size,
                a["Group size"],
            ]
        elif e["cat"] in ("user_annotation", "cpu_op") and e["name"].startswith("gloo:"):
            size = 0
            for dims, dtype in zip(a.get("Input Dims", []), a.get("Input type", [])):
                elements = 1
                for n in dims:
                    elements *= n
                size += elements * bytes_of(dtype)
            found[e["id"]] = [
                "host",
                kind(e["name"]),
                e["start"],
                e["length"],
                size,
                None,
                trace.world,
            ]
    return found


# Members of these collectives end together.
TOGETHER = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "barrier", "send_recv")


def stragglers(traces):
    """By rank and place: calls, sums of durations, exchange and waiting, calls in which it was
    last, what others waited for it. On devices a rank waits for the last start, on clocks whose
    median of ends agrees; on hosts, the shortest duration is the exchange."""
    rounds = collections.defaultdict(list)
    for t in traces:
        numbers = collections.Counter()
        for place, what, start, length, *_ in sorted(collectives(t).values(), key=lambda c: c[2]):
            numbers[place, what] += 1
            rounds[place, what, numbers[place, what]].append((start, length, t.rank))
    found = collections.defaultdict(lambda: [0] * 6)
    ahead = collections.defaultdict(list)
    for (place, what, _), calls in rounds.items():
        if place == "device" and what in TOGETHER:
            first = min(calls, key=lambda call: call[2])
            for start, length, rank in calls:
                ahead[rank].append(start + length - first[0] - first[1])
    offset = {rank: round(statistics.median(ends)) for rank, ends in ahead.items()}
    for (place, what, _), calls in rounds.items():
        assert len(calls) == len(traces)
        if place == "device":
            full = max(start - offset[rank] for start, _, rank in calls)
            waits = {rank: full - start + offset[rank] for start, _, rank in calls}
        elif what in TOGETHER:
            shortest = min(length for _, length, _ in calls)
            waits = {rank: length - shortest for _, length, rank in calls}
        else:
            continue
        last = [rank for rank, wait in waits.items() if wait == 0]
        for _, length, rank in calls:
            is_last = last == [rank]
            of_all = sum(waits.values()) if is_last else 0
            row = [1, length, length - waits[rank], waits[rank], int(is_last), of_all]
            found[rank, place] = [a + b for a, b in zip(found[rank, place], row)]
    return found


def utilization(trace):
    """By device and bucket: start, end, time with a kernel, SM efficiency and occupancy in
    percent."""
    spans = [e for e in trace.events if e["cat"] == "Trace" and e["name"] == "PyTorch Profiler (0)"]
    seen = [
        e
        for e in trace.events
        if node(e)
        or e in trace.work
        or e["cat"] in ("python_function", "Trace", "cuda_runtime", "cuda_driver")
    ]
    start, end = (
        (spans[-1]["start"], spans[-1]["end"])
        if spans
        else (min(e["start"] for e in seen), max(e["end"] for e in seen))
    )
    size = 1
    while end - start > 100 * size:
        size *= 10
    found, count = {}, (end - start) // size
    running = [e for e in trace.work if e["cat"] == "kernel"]
    for device in {e["args"]["device"] for e in running}:
        for i in range(count):
            a, b = start + i * size, end if i == count - 1 else start + (i + 1) * size
            here = [
                e
                for e in running
                if e["args"]["device"] == device and e["start"] < b and e["end"] > a
            ]
            cuts = sorted(
                {a, b} | {min(max(t, a), b) for e in here for t in (e["start"], e["end"])}
            )
            busy, filled = 0, fractions.Fraction(0)
            for left, right in zip(cuts, cuts[1:]):
                now = [e for e in here if e["start"] <= left and right <= e["end"]]
                blocks = sum(
                    fractions.Fraction(str(e["args"].get("blocks per SM", 0))) for e in now
                )
                busy += (right - left) * bool(now)
                filled += (right - left) * min(blocks, 1)
            known = [
                (min(e["end"], b) - max(e["start"], a), e["args"].get("est. achieved occupancy %"))
                for e in here
            ]
            known = [(n, fractions.Fraction(str(o))) for n, o in known if o is not None]
            weight = sum(n for n, _ in known)
            occupancy = float(sum(n * o for n, o in known) / weight) if weight else None
            found[device, i] = [a, b, busy, float(100 * filled / (b - a)), occupancy]
    return found


def rows(sql):
    done = subprocess.run(
        [sys.argv[1], "query", STORE, "-c", sql, "--format", "ndjson"],
        capture_output=True,
        text=True,
    )
    if done.returncode:
        sys.exit(f"{sql}\n{done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def same(want, got):
    if type(want) is float and got is not None:
        return abs(want - got) <= 1e-9 * max(abs(want), abs(got))
    return want == got


def compare(view, title, wanted, found):
    """All rows of a view by key."""
    for key in wanted.keys() | found.keys():
        want, got = wanted.get(key), found.get(key)
        TALLY[view] += len(want or got)
        if want is None or got is None or len(want) != len(got) or not all(map(same, want, got)):
            WRONG.append(f"{view} of {title}, {key}: want {want}, got {got}")


def differences(view, key, fields, titles, ids, count):
    base, cand = (count(t) for t in titles)
    empty = [0] * len(fields)
    wanted = {}
    for name in base.keys() | cand.keys():
        status = "both" if name in base and name in cand else "removed" if name in base else "added"
        a, b = base.get(name, empty), cand.get(name, empty)
        wanted[name] = [
            status,
            *a,
            *b,
            *(n - m for m, n in zip(a, b)),
            *(100.0 * (n - m) / m if m else None for m, n in zip(a, b)),
        ]
    parts = [
        *(f"base_{f}" for f in fields),
        *(f"cand_{f}" for f in fields),
        *(delta(f) for f in fields),
        *(percent(f) for f in fields),
    ]
    of_pair = f"base_trace_id = '{ids[0]}' AND cand_trace_id = '{ids[1]}'"
    found = {
        r[key]: [r[p] for p in ["status", *parts]]
        for r in rows(f"SELECT * FROM {view} WHERE {of_pair}")
    }
    compare(view, f"ranks {ids}", wanted, found)


def delta(field):
    return re.sub(r"(_ns)?$", r"_delta\1", field, count=1)


def percent(field):
    return re.sub(r"(_ns)?$", "_delta_pct", field, count=1)


def main():
    files = [ROOT / f"fixtures/{name}.json.gz" for job in JOBS for name in job]
    subprocess.run(
        [sys.argv[1], "ingest", *map(str, files), "-o", STORE], check=True, capture_output=True
    )
    ids = {
        pathlib.Path(r["path"]).name: r["trace_id"]
        for r in rows("SELECT path, trace_id FROM traces")
    }
    times = ["calls", "host_total_ns", "host_self_ns", "device_total_ns", "device_self_ns"]
    for job in JOBS:
        traces, of = [Trace(name) for name in job], [ids[f"{name}.json.gz"] for name in job]
        differences("operator_diff", "name", times, traces, of, operators)
        differences("kernel_diff", "name", ["calls", "total_ns"], traces, of, kernels)
        differences("module_diff", "path", times, traces, of, modules)
        for trace, trace_id in zip(traces, of):
            fields = (
                "place",
                "collective",
                "ts_ns",
                "dur_ns",
                "in_bytes",
                "out_bytes",
                "group_size",
            )
            found = {
                r["event_id"]: [r[f] for f in fields]
                for r in rows(f"SELECT * FROM collectives WHERE trace_id = '{trace_id}'")
            }
            compare("collectives", trace_id, collectives(trace), found)
            fields = ("start_ns", "end_ns", "kernel_ns", "sm_efficiency_pct", "occupancy_pct")
            found = rows(f"SELECT * FROM gpu_utilization_over_time WHERE trace_id = '{trace_id}'")
            compare(
                "gpu_utilization_over_time",
                trace_id,
                utilization(trace),
                {(r["device"], r["bucket"]): [r[f] for f in fields] for r in found},
            )
        fields = (
            "calls",
            "communication_ns",
            "transfer_ns",
            "wait_ns",
            "last_calls",
            "waited_for_ns",
        )
        found = rows(f"SELECT * FROM stragglers WHERE trace_id IN ('{of[0]}', '{of[1]}')")
        compare(
            "stragglers",
            job[0],
            stragglers(traces),
            {(r["rank"], r["place"]): [r[f] for f in fields] for r in found},
        )
    for view, values in TALLY.items():
        print(f"{view}: {values} values")
    sys.exit("\n".join(WRONG[:40]) or None)


main()
