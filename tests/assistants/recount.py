#!/usr/bin/env python3
"""Counts the answers of questions.json from the JSON of the fixtures, without tracesql.

Usage: recount.py FIXTURES. Prints one JSON object: the answer of each question by its id.
Only the standard library is used. Times are exact decimals, and become whole nanoseconds.
"""

import gzip
import json
import sys
from collections import Counter, defaultdict
from decimal import Decimal
from pathlib import Path


class Trace:
    """The events of one trace."""

    def __init__(self, path):
        data = path.read_bytes()
        if path.suffix == ".gz":
            data = gzip.decompress(data)
        self.document = json.loads(data, parse_float=Decimal)
        self.events = self.document.get("traceEvents", [])

    def of(self, *categories):
        """Complete events of some categories, in the order of the file."""
        return [e for e in self.events if e.get("ph") == "X" and e.get("cat") in categories]

    def steps(self):
        """Length of each step in ns, by its number."""
        marks = [e for e in self.of("user_annotation") if e["name"].startswith("ProfilerStep#")]
        return {int(e["name"].split("#")[1]): ns(e["dur"]) for e in marks}

    def memory(self, device_type):
        """Records of the allocator for one type of device: 0 is the host, 1 the GPU."""
        records = [e["args"] for e in self.events if e.get("name") == "[memory]"]
        return [a for a in records if a["Device Type"] == device_type]


def ns(microseconds):
    return int(Decimal(microseconds) * 1000)


def total(events):
    return sum(ns(e["dur"]) for e in events)


def union(events):
    """Time in which at least one of the events runs, in ns."""
    spans = sorted((ns(e["ts"]), ns(e["ts"]) + ns(e["dur"])) for e in events)
    length, until = 0, None
    for start, end in spans:
        if until is None or start > until:
            until = start
        length += max(0, end - until)
        until = max(until, end)
    return length


def correlation(event):
    return event["args"]["correlation"]


def answers(folder):
    trace = lambda name: Trace(folder / name)
    gpu, resnet = trace("synthetic_gpu_rank0.json.gz"), trace("resnet_cpu.pt.trace.json.gz")
    kernels, copies = gpu.of("kernel"), gpu.of("gpu_memcpy")
    work = kernels + copies + gpu.of("gpu_memset")
    calls = gpu.of("cuda_runtime", "cuda_driver")
    launched = {correlation(e) for e in calls}
    graphs = {correlation(e) for e in calls if e["name"] == "cudaGraphLaunch"}
    by_name = Counter()
    for kernel in kernels:
        by_name[kernel["name"]] += ns(kernel["dur"])

    found = {
        "kernels": len(kernels),
        "kernel_time": total(kernels),
        "busy_time": union(work),
        "graph_work": sum(correlation(e) in graphs for e in work),
        "unlaunched": sum(correlation(e) not in launched for e in work),
        "to_device": sum(e["args"]["bytes"] for e in copies if "HtoD" in e["name"]),
        "device_peak": max(a["Total Allocated"] for a in gpu.memory(1)),
        "all_reduces": sum("AllReduce" in e["name"] for e in kernels),
        "largest_kernel": max(by_name.values()),
        "longest_step": max(gpu.steps().values()),
        "resnet_steps": len(resnet.steps()),
    }

    of_torch = json.loads((folder / "resnet_cpu.key_averages.json").read_text())["rows"]
    of_torch = {row["name"]: row for row in of_torch}
    found["convolution_self"] = of_torch["aten::mkldnn_convolution"]["self_cpu_time_total_ns"]
    found["convolution_backwards"] = of_torch["aten::convolution_backward"]["count"]

    # Memory of a phone: what is alive counts from its start to its end, 0 stands for "at the end".
    blobs = trace("perf.json").document["memory_blobs"]
    changes = defaultdict(int)
    for blob in blobs:
        changes[blob["start_time"], 1] += blob["memory_usage"]
        if blob["end_time"]:
            changes[blob["end_time"], 0] -= blob["memory_usage"]
    alive = peak = 0
    for _, change in sorted(changes.items()):
        alive += change
        peak = max(peak, alive)
    found["phone_peak"] = peak
    found["phone_alive"] = sum(blob["end_time"] == 0 for blob in blobs)

    slow = trace("bottlenecks/slow_steps.json.gz").steps()
    inner = {step: length for step, length in slow.items() if step not in (min(slow), max(slow))}
    found["slowest_step"] = max(inner, key=inner.get)
    products = trace("bottlenecks/float32.json.gz")
    found["float32_kernels"] = len(products.of("kernel"))
    blocking = trace("bottlenecks/pageable_copies.json.gz").of("gpu_memcpy")
    found["pageable_bytes"] = sum(e["args"]["bytes"] for e in blocking if "Pageable" in e["name"])
    allocated = [a["Total Allocated"] for a in trace("bottlenecks/leak.json.gz").memory(1)]
    found["leaked"] = allocated[-1] - allocated[0]

    # Rank 0 of the skewed job is faster, and its collectives are longer by what it waits.
    collective = lambda rank: total(
        e for e in trace(f"bottlenecks/skewed/skewed_rank{rank}.json.gz").of("kernel")
        if e["name"].startswith("nccl")
    )
    found["rank_wait"] = collective(0) - collective(1)
    return found


if __name__ == "__main__":
    print(json.dumps(answers(Path(sys.argv[1])), indent=1))
