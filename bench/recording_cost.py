#!/usr/bin/env python3
"""What recording costs: time of a training step and size of the trace, for each option of
torch.profiler.

    python -m venv venv && venv/bin/pip install torch numpy
    venv/bin/python bench/recording_cost.py [--pairs 20] [--steps 8] [--tracesql PATH]

Two networks on the CPU, one thread: `small` runs operators of a few microseconds, so the profiler's
cost shows in full; `large` has the same operators on 64 times the data.  Each option has a process
of its own, which takes turns: some steps without the profiler, the same number with it, and so on,
so that whatever else the machine does hits both alike.  The slowdown is the median over these
pairs, with their quartiles; times are CPU times of the process.  Printed is a Markdown table;
`--tracesql` adds the size of the store.
"""

import argparse
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

OPTIONS = {
    "between cycles (`schedule` waits)": {"wait": True},
    "operators (`ProfilerActivity.CPU`)": {},
    "+ `record_shapes`": {"record_shapes": True},
    "+ `with_flops`": {"with_flops": True},
    "+ `profile_memory`": {"profile_memory": True},
    "+ `with_modules`": {"with_modules": True},
    "+ `with_stack`": {"with_stack": True},
    "shapes, memory, stacks": {"record_shapes": True, "profile_memory": True, "with_stack": True},
    "the same, `verbose`": {
        "record_shapes": True,
        "profile_memory": True,
        "with_stack": True,
        "verbose": True,
    },
}
NETWORKS = {"small": (8, 16, 4), "large": (32, 32, 16)}  # channels, pixels a side, batch


def measure(network, option, pairs, steps):
    """One process: steps without and with the profiler in turn, and what was written."""
    import torch
    from torch import nn
    from torch.profiler import ProfilerActivity, profile, schedule

    torch.manual_seed(0)
    torch.set_num_threads(1)
    channels, side, batch = NETWORKS[network]
    blocks = [
        nn.Sequential(
            nn.Conv2d(channels, channels, 3, padding=1), nn.BatchNorm2d(channels), nn.ReLU()
        )
        for _ in range(6)
    ]
    model = nn.Sequential(
        nn.Conv2d(3, channels, 3, padding=1),
        *blocks,
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(channels, 10),
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    x, y = torch.randn(batch, 3, side, side), torch.randint(0, 10, (batch,))

    def step():
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

    def timed(after):
        """The median of some steps."""
        times = []
        for _ in range(steps):
            start = time.process_time_ns()
            step()
            after()
            times.append(time.process_time_ns() - start)
        return statistics.median(times)

    flags = dict(OPTIONS[option])
    waits, verbose = flags.pop("wait", False), flags.pop("verbose", False)
    if verbose:
        flags["experimental_config"] = torch._C._profiler._ExperimentalConfig(verbose=True)
    off, on = [], []
    for _ in range(10):
        step()
    for _ in range(pairs):
        off.append(timed(lambda: None))
        # The schedule ends in its active phase: no trace is written in the steps that are timed.
        when = schedule(wait=10 * steps if waits else 0, warmup=2, active=steps + 1, repeat=1)
        prof = profile(activities=[ProfilerActivity.CPU], schedule=when, **flags)
        prof.start()
        for _ in range(0 if waits else 2):
            step()
            prof.step()
        on.append(timed(prof.step))
        prof.stop()
    facts = {"step_ns": statistics.median(off), "ratios": [b / a for a, b in zip(off, on)]}
    return facts if waits else dict(facts, **written(prof, steps))


def written(prof, steps):
    """What a step of a trace takes on disk."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        start = time.process_time_ns()
        prof.export_chrome_trace(path)
        export_ns = time.process_time_ns() - start
        data = open(path, "rb").read()
        facts = {
            "export_ns": export_ns,
            "json_bytes": len(data),
            "gzip_bytes": len(gzip.compress(data, 6, mtime=0)),
        }
        facts["elements"] = len(json.loads(data)["traceEvents"])
        if program := os.environ.get("TRACESQL"):
            store = os.path.join(folder, "store")
            subprocess.run(
                [program, "ingest", path, "-o", store, "--quiet"],
                check=True,
                stdout=subprocess.DEVNULL,
            )
            facts["store_bytes"] = sum(
                os.path.getsize(os.path.join(d, f)) for d, _, names in os.walk(store) for f in names
            )
        return {key: value / steps for key, value in facts.items()}


def row(option, facts):
    low, middle, high = (100 * q - 100 for q in statistics.quantiles(facts["ratios"], n=4))
    cells = [
        "%+.0f %% (%+.0f to %+.0f)" % (middle, low, high),
        "%.0f" % facts["elements"] if "elements" in facts else "",
    ]
    cells += [
        "%.1f" % (facts[k] / 1000) if k in facts else ""
        for k in ("json_bytes", "gzip_bytes", "store_bytes")
    ]
    cells.append("%.1f" % (facts["export_ns"] / 1e6) if "export_ns" in facts else "")
    return "| %s | %s |" % (option, " | ".join(cells))


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("--pairs", type=int, default=20, help="turns without and with the profiler")
    p.add_argument("--steps", type=int, default=8, help="steps of each turn")
    p.add_argument("--tracesql", help="the program, to measure the store too")
    p.add_argument("--one", nargs=2, metavar=("NETWORK", "OPTION"), help=argparse.SUPPRESS)
    a = p.parse_args()
    if a.one:
        print(json.dumps(measure(*a.one, a.pairs, a.steps)))
        return
    env = dict(os.environ, **({"TRACESQL": a.tracesql} if a.tracesql else {}))
    for network in NETWORKS:
        found = {}
        for option in OPTIONS:
            command = [
                sys.executable,
                __file__,
                "--one",
                network,
                option,
                "--pairs",
                str(a.pairs),
                "--steps",
                str(a.steps),
            ]
            found[option] = json.loads(
                subprocess.run(command, check=True, env=env, stdout=subprocess.PIPE).stdout
            )
        base = statistics.median(f["step_ns"] for f in found.values()) / 1e6
        print(
            "| recorded, %s network (%.1f ms a step without) | slowdown | elements | JSON, kB | "
            "gzip, kB | store, kB | writing, ms |" % (network, base)
        )
        print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
        print("\n".join(row(option, facts) for option, facts in found.items()) + "\n", flush=True)


if __name__ == "__main__":
    main()
