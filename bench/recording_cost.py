#!/usr/bin/env python3
"""What recording costs: CPU time of a training step and size of the trace, for each option of torch.profiler.

    python -m venv venv && venv/bin/pip install torch numpy
    venv/bin/python bench/recording_cost.py [--rounds 5] [--steps 20] [--tracesql PATH]

Two networks on the CPU, one thread: `small` runs operators of a few microseconds, so the profiler's cost shows in full; `large` has the same
operators on 64 times the data.  Every measurement is a process of its own; rounds go through all options in turn, so that a busy minute of the
machine hits all alike.  Times are CPU times of the process; other work on the machine only makes them longer, so the least of the rounds is
taken, of the fastest quarter of steps in each.  Printed is a Markdown table; `--tracesql` adds the size of the store.
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
    "no profiler": None,
    "between cycles (`schedule` waits)": {"wait": True},
    "operators (`ProfilerActivity.CPU`)": {},
    "+ `record_shapes`": {"record_shapes": True},
    "+ `with_flops`": {"with_flops": True},
    "+ `profile_memory`": {"profile_memory": True},
    "+ `with_modules`": {"with_modules": True},
    "+ `with_stack`": {"with_stack": True},
    "shapes, memory, stacks": {"record_shapes": True, "profile_memory": True, "with_stack": True},
    "the same, `verbose`": {"record_shapes": True, "profile_memory": True, "with_stack": True, "verbose": True},
}
NETWORKS = {"small": (8, 16, 4), "large": (32, 32, 16)}  # channels, pixels a side, batch


def quarter(times):
    """What a quarter of the steps do not exceed."""
    return sorted(times)[len(times) // 4]


def measure(network, option, steps):
    """One process: the step while profiling, and what was written."""
    import torch
    from torch import nn
    from torch.profiler import ProfilerActivity, profile, schedule

    torch.manual_seed(0)
    torch.set_num_threads(1)
    channels, side, batch = NETWORKS[network]
    blocks = [nn.Sequential(nn.Conv2d(channels, channels, 3, padding=1), nn.BatchNorm2d(channels), nn.ReLU()) for _ in range(6)]
    model = nn.Sequential(nn.Conv2d(3, channels, 3, padding=1), *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    x, y = torch.randn(batch, 3, side, side), torch.randint(0, 10, (batch,))

    def step():
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

    times = []

    def timed(after):
        for _ in range(steps):
            start = time.process_time_ns()
            step()
            after()
            times.append(time.process_time_ns() - start)

    for _ in range(10):
        step()
    flags = OPTIONS[option]
    if flags is None:
        timed(lambda: None)
        return {"step_ns": quarter(times)}
    flags = dict(flags)
    waits, verbose = flags.pop("wait", False), flags.pop("verbose", False)
    if verbose:
        flags["experimental_config"] = torch._C._profiler._ExperimentalConfig(verbose=True)
    # The schedule ends in its active phase: the trace is written below, outside of the steps that are timed.
    when = schedule(wait=10 * steps if waits else 0, warmup=2, active=steps + 1, repeat=1)
    prof = profile(activities=[ProfilerActivity.CPU], schedule=when, **flags)
    prof.start()
    if not waits:
        for _ in range(2):
            step()
            prof.step()
    timed(prof.step)
    if waits:
        prof.stop()
        return {"step_ns": quarter(times)}
    prof.stop()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        start = time.process_time_ns()
        prof.export_chrome_trace(path)
        export_ns = time.process_time_ns() - start
        data = open(path, "rb").read()
        packed = gzip.compress(data, 6, mtime=0)
        facts = {"step_ns": quarter(times), "export_ns": export_ns, "json_bytes": len(data), "gzip_bytes": len(packed)}
        facts["elements"] = len(json.loads(data)["traceEvents"])
        if program := os.environ.get("TRACESQL"):
            store = os.path.join(folder, "store")
            subprocess.run([program, "ingest", path, "-o", store, "--quiet"], check=True, stdout=subprocess.DEVNULL)
            facts["store_bytes"] = sum(os.path.getsize(os.path.join(d, f)) for d, _, names in os.walk(store) for f in names)
        return facts


def one(network, option, steps, program):
    env = dict(os.environ, **({"TRACESQL": program} if program else {}))
    command = [sys.executable, __file__, "--one", network, option, "--steps", str(steps)]
    return json.loads(subprocess.run(command, check=True, env=env, stdout=subprocess.PIPE).stdout)


def table(network, found, steps):
    """Rows of one network: the least time of the rounds, medians of sizes."""
    base = min(f["step_ns"] for f in found["no profiler"])
    print("| recorded, %s network | step, CPU ms | slowdown | elements a step | JSON a step, kB | gzip a step, kB | store a step, kB | writing it, ms a step |" % network)
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for option, rounds in found.items():
        middle = {k: statistics.median(f[k] for f in rounds) for k in rounds[0]}
        middle.update((k, min(f[k] for f in rounds)) for k in ("step_ns", "export_ns") if k in middle)
        cells = ["%.2f" % (middle["step_ns"] / 1e6), "%+.0f %%" % (100 * middle["step_ns"] / base - 100)]
        cells.append("%.0f" % (middle["elements"] / steps) if "elements" in middle else "")
        cells += ["%.1f" % (middle[k] / steps / 1000) if k in middle else "" for k in ("json_bytes", "gzip_bytes", "store_bytes")]
        cells.append("%.2f" % (middle["export_ns"] / steps / 1e6) if "export_ns" in middle else "")
        print("| %s | %s |" % (option, " | ".join(cells)))
    print()


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--steps", type=int, default=20)
    p.add_argument("--tracesql", help="the program, to measure the store too")
    p.add_argument("--one", nargs=2, metavar=("NETWORK", "OPTION"), help=argparse.SUPPRESS)
    a = p.parse_args()
    if a.one:
        print(json.dumps(measure(*a.one, a.steps)))
        return
    for network in NETWORKS:
        found = {option: [] for option in OPTIONS}
        for _ in range(a.rounds):
            for option in OPTIONS:
                found[option].append(one(network, option, a.steps, a.tracesql))
        table(network, found, a.steps)


if __name__ == "__main__":
    main()
