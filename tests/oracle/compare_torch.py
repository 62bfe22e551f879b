#!/usr/bin/env python3
"""Views of memory, modules, ranks, comparisons and advice against torch-tb-profiler's own figures; perf.json against its reference.

    compare_torch.py TRACESQL CORPUS EXPECTED [--write]

TRACESQL is the program, CORPUS the folder of public traces, EXPECTED that of the plugin's outputs (`tb/*.json.gz`) and of the perf.json reference. Prints
a table of trace, view and cells equal of all. Every cell that differs must stand in `tests/expected/tb/torch_differences.tsv` with its expected and found
value and a reason that docs/tensorboard.md explains, and the table in the docs; otherwise the exit status is 1. --write writes both anew, and leaves new
reasons open. Standard library only; one store for all traces and one query for each view, so that it takes half a minute.
"""
import collections
import csv
import functools
import gzip
import json
import pathlib
import re
import subprocess
import sys
import tempfile

PROGRAM, CORPUS, EXPECTED = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3])
ROOT = pathlib.Path(__file__).resolve().parents[2]
LISTED, DOCS = ROOT / "tests/expected/tb/torch_differences.tsv", ROOT / "docs/tensorboard.md"
HEAD = ["trace", "view", "cell", "expected", "found", "reason"]
TABLE_HEAD = "| trace | view | cells equal / all |\n| --- | --- | ---: |\n"
WORK = tempfile.TemporaryDirectory()
STORE = WORK.name + "/store"
TABLE, WRONG = {}, []


def rows(sql):
    done = subprocess.run([PROGRAM, "query", STORE, "-c", sql, "--format", "ndjson"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{sql}\n{done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


@functools.cache
def view(name):
    """Rows of a view by trace, from one query for all traces."""
    of = collections.defaultdict(list)
    for row in rows(f"SELECT * FROM {name}"):
        of[row["trace_id"]].append(row)
    return of


def cell(trace, view, what, want, got):
    equal, total = TABLE.get((trace, view), (0, 0))
    TABLE[trace, view] = (equal + (want == got), total + 1)
    if want != got:
        what = what if isinstance(what, tuple) else (what,)
        WRONG.append((trace, view, " ".join(str(part) for part in what), json.dumps(want), json.dumps(got)))


def read(path):
    return json.loads(gzip.open(path, "rt").read().replace("NaN", "null"))


def device(row):
    return {"cpu": "CPU", "cuda": f"GPU{row['device']}"}.get(row["device_type"])


def memory_curve(trace, trace_id, records):
    ours, theirs = collections.defaultdict(list), collections.defaultdict(list)
    for r in sorted(view("memory_curve")[trace_id], key=lambda r: (r["ts_ns"], r["event_id"])):
        ours[device(r)].append((r["ts_ns"], r["allocated_bytes"], r["reserved_bytes"]))
    for r in records:
        theirs[r["device_name"]].append((r["ts"], r["total_allocated"], r["total_reserved"]))
    recorded = any(r["total_allocated"] is not None for r in records)
    for name, points in theirs.items():
        for i, point in enumerate(points):
            got = ours[name][i] if i < len(ours[name]) else None
            cell(trace, "memory_curve", (name, i), point if recorded else point[0], got if recorded or got is None else got[0])


def allocations(trace, trace_id, records):
    live, pairs = {}, collections.Counter()
    for r in records:
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
    ours = (r for r in view("allocations")[trace_id] if r["state"] != "no_address")
    got = collections.Counter((r["alloc_ts_ns"], r["free_ts_ns"], r["bytes"]) for r in ours)
    for pair in pairs.keys() | got.keys():
        cell(trace, "allocations", pair, pairs[pair], got[pair])


def memory_by_operator(trace, trace_id, statistics):
    fields = ("growth_self_bytes", "allocated_self_bytes", "allocations_self", "growth_bytes", "allocated_bytes", "allocations", "calls")
    ours = {(device(r), r["name"]): r for r in view("memory_by_operator")[trace_id]}
    for name, operators in statistics.items():
        for operator, figures in operators.items():
            for field, want in zip(fields, figures):
                cell(trace, "memory_by_operator", (name, operator, field), want, ours.get((name, operator), {}).get(field))


def modules(trace, trace_id, roots):
    theirs = {}

    def walk(node, path):
        name = node["name"] if re.search(r"_\d+$", node["name"]) else f"{node['name']}_{node['id']}"
        theirs[".".join(path + [name])] = node
        for child in node["children"]:
            walk(child, path + [name])

    for root in roots:
        walk(root, [])
    ours = {r["path"]: r for r in view("module_tree")[trace_id] if r["path"] is not None}
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


def advice(trace, trace_id, said):
    rules = {
        "input data loading": "dataloader", "DistributedDataParallel instead": "data_parallel", "NCCL": "ddp_backend",
        "high time cost on communication": "communication", "low utilization": "gpu_utilization", "Tensor Cores": "tensor_cores",
        "memory usage": "memory_limit",
    }
    theirs = {rule for text in said for words, rule in rules.items() if words in text}
    ours = {r["rule"] for r in view("recommendations")[trace_id]}
    for rule in rules.values():
        cell(trace, "recommendations", rule, rule in theirs, rule in ours)


def distributed(trace, figures, workers):
    step, waits = next((s, f) for s, f in figures["steps_to_wait"]["data"].items() if s != "all")
    for worker, trace_id in workers.items():
        ours = next(r for r in view("communication_wait")[trace_id] if r["step"] == int(step))
        transfer, wait = waits[worker]
        cell(trace, "communication_wait", (worker, "transfer_ns"), transfer, ours["transfer_ns"])
        cell(trace, "communication_wait", (worker, "wait_ns"), wait, ours["wait_ns"])
        ours = {r["name"]: r for r in view("collective_operators")[trace_id]}
        for name, *theirs in figures["comm_ops"]["data"][worker]["rows"]:
            fields = ("calls", "size_bytes", "mean_size_bytes", "latency_ns", "mean_latency_ns", "transfer_ns", "mean_transfer_ns")
            for field, want in zip(fields, theirs):
                cell(trace, "collective_operators", (worker, name, field), want, round(ours[name][field]))


def subtrees(trace, root, base, cand):
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


def perf(trace, trace_id):
    theirs = json.load(open(EXPECTED / f"{trace}.json"))
    summary = view("mllm_summary")[trace_id][0]
    curve = sorted({(r["time"], r["all_devices_bytes"]) for r in view("mllm_memory_curve")[trace_id]})
    # The reference frees what is alive at the end of the recording; here it stays.
    theirs["curve"][-1][1] += summary["alive_bytes"]
    cell(trace, "mllm_memory_curve", "curve", theirs["curve"], [list(point) for point in curve])
    for name, want in (("mllm_blobs", "memory_tracks"), ("mllm_operations", "op_tracks")):
        cell(trace, name, "lanes", theirs[want], [r["lane"] for r in sorted(view(name)[trace_id], key=lambda r: r["event_id"])])
    for field, want in (
        ("blobs", theirs["memory"]["events"]), ("memory_duration", theirs["memory"]["duration"]), ("peak_bytes", theirs["memory"]["peak_bytes"]),
        ("operations", theirs["ops"]["events"]), ("alive_blobs", theirs["live_at_end"]),
    ):
        cell(trace, "mllm_summary", field, want, summary[field])


def compare():
    listed = list(csv.DictReader(open(ROOT / "tests/expected/tb/traces.tsv"), delimiter="\t"))
    perfs = {"mllm_perf_sample": CORPUS / "public/mllm/tools/mllm-perf-viewer/perf.json", "mllm_perf_edge": EXPECTED / "../data/mllm_perf_edge.json"}
    files = sorted({CORPUS / t["trace"] for t in listed} | {p.resolve() for p in perfs.values()})
    subprocess.run([PROGRAM, "ingest", *map(str, files), "-o", STORE], check=True, capture_output=True)
    ids = {r["path"]: r["trace_id"] for r in rows("SELECT path, trace_id FROM traces")}
    jobs = collections.defaultdict(dict)
    for t in listed:
        expected = EXPECTED / f"tb/{t['expected']}.relink.json.gz"
        if not expected.is_file():
            continue
        trace = t["expected"] + ("" if t["worker"] == "*" else "." + t["worker"])
        trace_id = ids[str(CORPUS / t["trace"])]
        jobs[t["expected"]][t["worker"]] = trace_id
        worker = next(w for w in read(expected)["workers"] if t["worker"] in ("*", w["worker"]))
        if "memory_records" in worker["raw"]:
            memory_curve(trace, trace_id, worker["raw"]["memory_records"])
            allocations(trace, trace_id, worker["raw"]["memory_records"])
            memory_by_operator(trace, trace_id, worker["raw"]["memory_statistics"])
        if worker.get("module_view"):
            modules(trace, trace_id, worker["module_view"]["data"])
        advice(trace, trace_id, worker["raw"]["recommendations"])
    for job, workers in jobs.items():
        # With one rank there is nobody to wait for.
        if len(workers) > 1:
            distributed(job, read(EXPECTED / f"tb/{job}.relink.json.gz")["distributed"][0], workers)
    sides = [ids[str(CORPUS / t["trace"])] for t in listed if t["expected"].startswith("kineto.resnet50_num_workers")]
    subtrees("kineto.diff_w0_w4", read(EXPECTED / "tb/kineto.diff_w0_w4.plain.json.gz")["diff"], *sides)
    for trace, path in perfs.items():
        perf(trace, ids[str(path.resolve())])


def verdict(write):
    """What is wrong: differences that are not listed, or listed and not met; reasons without an explanation; a table that is not in the docs."""
    docs = DOCS.read_text()
    listed = list(csv.DictReader(open(LISTED), delimiter="\t", quoting=csv.QUOTE_NONE)) if LISTED.is_file() else []
    reasons = {tuple(r[h] for h in HEAD[:-1]): r["reason"] for r in listed}
    table = TABLE_HEAD + "".join(f"| {trace} | `{view}` | {equal:,} / {total:,} |\n" for (trace, view), (equal, total) in sorted(TABLE.items()))
    print(table)
    print(f"{sum(e for e, _ in TABLE.values()):,} of {sum(t for _, t in TABLE.values()):,} cells are equal.")
    if write:
        lines = ["\t".join([*wrong, reasons.get(wrong, "")]) for wrong in sorted(WRONG)]
        LISTED.write_text("\n".join(["\t".join(HEAD), *lines]) + "\n")
        DOCS.write_text(re.sub(re.escape(TABLE_HEAD) + r"(\|.*\n)*", lambda _: table, docs, count=1))
    wrong = [f"differs, and is not listed: {w}" for w in sorted(set(WRONG) - reasons.keys())]
    wrong += [f"listed, but does not differ so: {w}" for w in sorted(reasons.keys() - set(WRONG))]
    wrong += [f"the reason {r!r} is not explained in docs/tensorboard.md" for r in sorted(set(reasons.values())) if f"| `{r}` |" not in docs]
    if table not in docs:
        wrong.append("docs/tensorboard.md does not hold this table (--write puts it there)")
    return wrong


compare()
sys.exit("\n".join(verdict("--write" in sys.argv)) or None)
