#!/usr/bin/env python3
"""Views of memory, modules, ranks, comparisons and advice against torch-tb-profiler's own figures; perf.json against its reference.

    compare_torch.py TRACESQL CORPUS EXPECTED

TRACESQL is the program, CORPUS the folder of public traces, EXPECTED that of the plugin's outputs (`tb/*.json.gz`) and of the perf.json reference. Prints
a table of trace, view and cells equal of all, then the cells that differ. Standard library only; run by hand.
"""
import collections
import csv
import gzip
import json
import pathlib
import re
import subprocess
import sys
import tempfile

PROGRAM, CORPUS, EXPECTED = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3])
HERE = pathlib.Path(__file__).resolve().parent
WORK = tempfile.TemporaryDirectory()
STORE = WORK.name + "/store"
TABLE, WRONG = {}, []


def rows(sql):
    done = subprocess.run([PROGRAM, "query", STORE, "-c", sql, "--format", "ndjson"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{sql}\n{done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def cell(trace, view, what, want, got):
    equal, total = TABLE.get((trace, view), (0, 0))
    TABLE[trace, view] = (equal + (want == got), total + 1)
    if want != got:
        WRONG.append((trace, view, what, want, got))


def read(path):
    return json.loads(gzip.open(path, "rt").read().replace("NaN", "null"))


def device(row):
    return {"cpu": "CPU", "cuda": f"GPU{row['device']}"}.get(row["device_type"])


def memory(trace, of_trace, raw):
    ours = collections.defaultdict(list)
    for r in rows(f"SELECT * FROM memory_curve {of_trace} ORDER BY ts_ns, event_id"):
        ours[device(r)].append((r["ts_ns"], r["allocated_bytes"], r["reserved_bytes"]))
    theirs, live, pairs = collections.defaultdict(list), {}, collections.Counter()
    recorded = any(r["total_allocated"] is not None for r in raw["memory_records"])
    for r in raw["memory_records"]:
        theirs[r["device_name"]].append((r["ts"], r["total_allocated"], r["total_reserved"]))
        if r["addr"] is None:
            continue
        before = live.pop(r["addr"], None)
        if r["bytes"] > 0:
            if before:
                pairs[before["ts"], None, before["bytes"]] += 1
            live[r["addr"]] = r
        else:
            pairs[before["ts"] if before else None, r["ts"], -r["bytes"]] += 1
    for r in live.values():
        pairs[r["ts"], None, r["bytes"]] += 1
    for name, points in theirs.items():
        for i, point in enumerate(points):
            got = ours[name][i] if i < len(ours[name]) else None
            cell(trace, "memory_curve", (name, i), point if recorded else point[0], got if recorded or got is None else got[0])
    got = collections.Counter(
        (r["alloc_ts_ns"], r["free_ts_ns"], r["bytes"]) for r in rows(f"SELECT * FROM allocations {of_trace} AND state <> 'no_address'")
    )
    for pair in pairs.keys() | got.keys():
        cell(trace, "allocations", pair, pairs[pair], got[pair])
    fields = ("growth_self_bytes", "allocated_self_bytes", "allocations_self", "growth_bytes", "allocated_bytes", "allocations", "calls")
    ours = {(device(r), r["name"]): r for r in rows(f"SELECT * FROM memory_by_operator {of_trace}")}
    for name, operators in raw["memory_statistics"].items():
        for operator, figures in operators.items():
            for field, want in zip(fields, figures):
                cell(trace, "memory_by_operator", (name, operator, field), want, ours.get((name, operator), {}).get(field))


def modules(trace, of_trace, view):
    theirs = {}

    def walk(node, path):
        name = node["name"] if re.search(r"_\d+$", node["name"]) else f"{node['name']}_{node['id']}"
        theirs[".".join(path + [name])] = node
        for child in node["children"]:
            walk(child, path + [name])

    for root in view["data"]:
        walk(root, [])
    ours = {r["path"]: r for r in rows(f"SELECT * FROM module_tree {of_trace} AND path IS NOT NULL")}
    fields = {
        "occurences": "calls", "operators": "operators", "host_duration": "host_total_ns", "self_host_duration": "host_self_ns",
        "device_duration": "device_total_ns", "self_device_duration": "device_self_ns",
    }
    # The plugin shows the figures of an instance at each of its places.
    sums = collections.defaultdict(collections.Counter)
    for path, row in ours.items():
        node = theirs.get(path)
        for field in fields.values():
            if node:
                sums[node["name"], node["id"]][field] += row[field]
    for path, node in theirs.items():
        for want, field in fields.items():
            cell(trace, "module_tree", (path, field), node[want], sums[node["name"], node["id"]].get(field) if path in ours else None)


def advice(trace, of_trace, said):
    rules = {
        "input data loading": "dataloader", "DistributedDataParallel instead": "data_parallel", "NCCL": "ddp_backend",
        "high time cost on communication": "communication", "low utilization": "gpu_utilization", "Tensor Cores": "tensor_cores",
        "memory usage": "memory_limit",
    }
    theirs = {rule for text in said for words, rule in rules.items() if words in text}
    ours = {r["rule"] for r in rows(f"SELECT DISTINCT rule FROM recommendations {of_trace}")}
    for rule in rules.values():
        cell(trace, "recommendations", rule, rule in theirs, rule in ours)


def distributed(trace, view, workers):
    step, figures = next((s, f) for s, f in view["steps_to_wait"]["data"].items() if s != "all")
    for worker, of_trace in workers.items():
        ours = rows(f"SELECT * FROM communication_wait {of_trace} AND step = {step}")[0]
        transfer, wait = figures[worker]
        cell(trace, "communication_wait", (worker, "transfer_ns"), transfer, ours["transfer_ns"])
        cell(trace, "communication_wait", (worker, "wait_ns"), wait, ours["wait_ns"])
        ours = {r["name"]: r for r in rows(f"SELECT * FROM collective_operators {of_trace}")}
        for name, *theirs in view["comm_ops"]["data"][worker]["rows"]:
            r = ours[name]
            fields = ("calls", "size_bytes", "mean_size_bytes", "latency_ns", "mean_latency_ns", "transfer_ns", "mean_transfer_ns")
            for field, want in zip(fields, theirs):
                cell(trace, "collective_operators", (worker, name, field), want, round(r[field]))


def diff(trace, root, base, cand):
    ours = rows(f"SELECT * FROM subtree_diff WHERE base_trace_id = '{base}' AND cand_trace_id = '{cand}' AND path LIKE 'ProfilerStep*%'")
    for side, theirs in (("base", root["left"]), ("cand", root["right"])):
        host = sum(r[f"{side}_host_total_ns"] for r in ours if r["parent_path"] == "ProfilerStep*")
        cell(trace, "subtree_diff", (side, "host"), theirs["duration"] * 1000, host)
        sums = collections.defaultdict(collections.Counter)
        for r in ours:
            for field in ("calls", "host_total_ns", "host_self_ns", "device_total_ns"):
                sums[r["name"]][field] += r[f"{side}_{field}"]
        for operator in theirs["aggs"]:
            got = sums[operator["name"]]
            cell(trace, "subtree_diff", (side, operator["name"], "calls"), operator["calls"], got["calls"])
            for want, field in (("host_duration", "host_total_ns"), ("self_host_duration", "host_self_ns"), ("device_duration", "device_total_ns")):
                cell(trace, "subtree_diff", (side, operator["name"], field), operator[want] * 1000, got[field])


def perf(name, path, of_trace):
    theirs = json.load(open(EXPECTED / f"{name}.json"))
    summary = rows(f"SELECT * FROM mllm_summary {of_trace}")[0]
    curve = [[r["time"], r["bytes"]] for r in rows(f"SELECT DISTINCT time, all_devices_bytes AS bytes FROM mllm_memory_curve {of_trace} ORDER BY time")]
    # The reference frees what is alive at the end of the recording; here it stays.
    theirs["curve"][-1][1] += summary["alive_bytes"]
    cell(name, "mllm_memory_curve", "curve", theirs["curve"], curve)
    for view, want in (("mllm_blobs", "memory_tracks"), ("mllm_operations", "op_tracks")):
        cell(name, view, "lanes", theirs[want], [r["lane"] for r in rows(f"SELECT lane FROM {view} {of_trace} ORDER BY event_id")])
    for field, want in (
        ("blobs", theirs["memory"]["events"]), ("memory_duration", theirs["memory"]["duration"]), ("peak_bytes", theirs["memory"]["peak_bytes"]),
        ("operations", theirs["ops"]["events"]), ("alive_blobs", theirs["live_at_end"]),
    ):
        cell(name, "mllm_summary", field, want, summary[field])


def main():
    listed = list(csv.DictReader(open(HERE.parent / "expected/tb/traces.tsv"), delimiter="\t"))
    perfs = {"mllm_perf_sample": CORPUS / "public/mllm/tools/mllm-perf-viewer/perf.json", "mllm_perf_edge": EXPECTED / "../data/mllm_perf_edge.json"}
    files = sorted({CORPUS / t["trace"] for t in listed} | {p.resolve() for p in perfs.values()})
    subprocess.run([PROGRAM, "ingest", *map(str, files), "-o", STORE], check=True, capture_output=True)
    ids = {r["path"]: r["trace_id"] for r in rows("SELECT path, trace_id FROM traces")}
    workers = collections.defaultdict(dict)
    for t in listed:
        expected = EXPECTED / f"tb/{t['expected']}.relink.json.gz"
        if not expected.is_file():
            continue
        name = t["expected"] + ("" if t["worker"] == "*" else "." + t["worker"])
        of_trace = f"WHERE trace_id = '{ids[str(CORPUS / t['trace'])]}'"
        workers[t["expected"]][t["worker"]] = of_trace
        worker = next(w for w in read(expected)["workers"] if t["worker"] in ("*", w["worker"]))
        if "memory_records" in worker["raw"]:
            memory(name, of_trace, worker["raw"])
        if worker.get("module_view"):
            modules(name, of_trace, worker["module_view"])
        advice(name, of_trace, worker["raw"]["recommendations"])
    for name, of_workers in workers.items():
        # With one rank there is nobody to wait for.
        if len(of_workers) > 1:
            distributed(name, read(EXPECTED / f"tb/{name}.relink.json.gz")["distributed"][0], of_workers)
    sides = [ids[str(CORPUS / t["trace"])] for t in listed if t["expected"].startswith("kineto.resnet50_num_workers")]
    diff("kineto.diff_w0_w4", read(EXPECTED / "tb/kineto.diff_w0_w4.plain.json.gz")["diff"], *sides)
    for name, path in perfs.items():
        perf(name, path, f"WHERE trace_id = '{ids[str(path.resolve())]}'")
    print("| trace | view | cells equal / all |\n| --- | --- | ---: |")
    for (trace, view), (equal, total) in TABLE.items():
        print(f"| {trace} | `{view}` | {equal} / {total} |")
    print(f"\n{sum(e for e, _ in TABLE.values())} of {sum(t for _, t in TABLE.values())} cells are equal; those that are not:\n")
    for wrong in WRONG:
        print("\t".join(str(part) for part in wrong))


if __name__ == "__main__":
    main()
