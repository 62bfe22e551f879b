#!/usr/bin/env python3
"""Views of memory, modules, ranks, comparisons and advice against torch-tb-profiler's own figures;
perf.json against its reference.

    compare_torch.py TRACESQL fixtures [--write]
    compare_torch.py TRACESQL CORPUS EXPECTED [--write]

TRACESQL is the program, CORPUS the folder of public traces, EXPECTED that of the plugin's outputs
(`tb/*.json.gz`) and of the perf.json reference. Prints a table of trace, view and cells equal of
all. Every cell that differs must stand in `tests/expected/tb/torch_differences.tsv` with its
expected and found value and a reason that docs/tensorboard.md explains, and the table in
docs/evidence/tensorboard.md; otherwise the exit status is 1. --write updates both, and leaves new
reasons open. Standard library only; one store for all traces and one query for each view, so that
it takes half a minute.
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

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM, SET = sys.argv[1], "fixtures" if sys.argv[2] == "fixtures" else "public traces"
LISTED = ROOT / "tests/expected/tb/torch_differences.tsv"
REASONS, TABLES = ROOT / "docs/tensorboard.md", ROOT / "docs/evidence/tensorboard.md"
HEAD = ["set", "trace", "view", "cell", "expected", "found", "reason"]
TABLE_HEAD = f"| trace ({SET}) | view | cells equal / all |\n| --- | --- | ---: |\n"
WORK = tempfile.TemporaryDirectory()
STORE = WORK.name + "/store"
TABLE, WRONG = {}, []


def rows(sql):
    done = subprocess.run(
        [PROGRAM, "query", STORE, "-c", sql, "--format", "ndjson"], capture_output=True, text=True
    )
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
        WRONG.append(
            (
                SET,
                trace,
                view,
                " ".join(str(part) for part in what),
                json.dumps(want),
                json.dumps(got),
            )
        )


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
            cell(
                trace,
                "memory_curve",
                (name, i),
                point if recorded else point[0],
                got if recorded or got is None else got[0],
            )


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
    fields = (
        "growth_self_bytes",
        "allocated_self_bytes",
        "allocations_self",
        "growth_bytes",
        "allocated_bytes",
        "allocations",
        "calls",
    )
    ours = {(device(r), r["name"]): r for r in view("memory_by_operator")[trace_id]}
    for name, operators in statistics.items():
        for operator, figures in operators.items():
            for field, want in zip(fields, figures):
                cell(
                    trace,
                    "memory_by_operator",
                    (name, operator, field),
                    want,
                    ours.get((name, operator), {}).get(field),
                )


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
        "occurences": "calls",
        "operators": "operators",
        "host_duration": "host_total_ns",
        "self_host_duration": "host_self_ns",
        "device_duration": "device_total_ns",
        "self_device_duration": "device_self_ns",
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
            cell(
                trace,
                "module_tree",
                (path, field),
                node[want],
                sums[node["name"], node["id"]].get(field) if path in ours else None,
            )


def advice(trace, trace_id, said):
    rules = {
        "input data loading": "dataloader",
        "DistributedDataParallel instead": "data_parallel",
        "NCCL": "ddp_backend",
        "high time cost on communication": "communication",
        "low utilization": "gpu_utilization",
        "Tensor Cores": "tensor_cores",
        "memory usage": "memory_limit",
    }
    theirs = {rule for text in said for words, rule in rules.items() if words in text}
    ours = {r["rule"] for r in view("recommendations")[trace_id]}
    for rule in rules.values():
        cell(trace, "recommendations", rule, rule in theirs, rule in ours)


def distributed(trace, figures, workers):
    for step, waits in figures["steps_to_wait"]["data"].items():
        for worker, (transfer, wait) in waits.items():
            # The mean over all steps is cut to a whole number.
            if step != "all":
                ours = next(
                    r
                    for r in view("communication_wait")[workers[worker]]
                    if r["step"] == (None if step == "null" else int(step))
                )
                cell(
                    trace,
                    "communication_wait",
                    (worker, step, "transfer_ns"),
                    transfer,
                    ours["transfer_ns"],
                )
                cell(trace, "communication_wait", (worker, step, "wait_ns"), wait, ours["wait_ns"])
    for worker, table in figures["comm_ops"]["data"].items():
        ours = {r["name"]: r for r in view("collective_operators")[workers[worker]]}
        for name, *theirs in table["rows"]:
            fields = (
                "calls",
                "size_bytes",
                "mean_size_bytes",
                "latency_ns",
                "mean_latency_ns",
                "transfer_ns",
                "mean_transfer_ns",
            )
            for field, want in zip(fields, theirs):
                # Sizes that were not recorded are NULL here and 0 there.
                cell(
                    trace,
                    "collective_operators",
                    (worker, name, field),
                    want,
                    round(ours[name][field] or 0),
                )


def diff(trace, root, unit, base, cand):
    """Rows of the plugin's tree, and operators of each; times are in units of so many ns."""
    of_pair = f"WHERE base_trace_id = '{base}' AND cand_trace_id = '{cand}'"
    ours = {r["path"]: r for r in rows(f"SELECT * FROM tb_subtree_diff {of_pair}")}
    operators = {
        (r["path"], r["name"]): r for r in rows(f"SELECT * FROM tb_subtree_operator_diff {of_pair}")
    }
    seen = set()

    def walk(node, path):
        for side, theirs in (("base", node["left"]), ("cand", node["right"])):
            got = ours.get(path, {})
            cell(
                trace,
                "tb_subtree_diff",
                (path, side, "name"),
                theirs["name"],
                got.get(f"{side}_name"),
            )
            for want, field in (
                ("duration", "host_total_ns"),
                ("device_duration", "device_total_ns"),
                ("total_duration", "total_ns"),
            ):
                cell(
                    trace,
                    "tb_subtree_diff",
                    (path, side, field),
                    theirs[want] * unit,
                    got.get(f"{side}_{field}"),
                )
            for operator in theirs["aggs"]:
                got = operators.get((path, operator["name"]), {})
                seen.add((path, operator["name"]))
                cell(
                    trace,
                    "tb_subtree_operator_diff",
                    (path, side, operator["name"], "calls"),
                    operator["calls"],
                    got.get(f"{side}_calls"),
                )
                for want, field in (
                    ("host_duration", "host_total_ns"),
                    ("self_host_duration", "host_self_ns"),
                    ("device_duration", "device_total_ns"),
                    ("self_device_duration", "device_self_ns"),
                ):
                    cell(
                        trace,
                        "tb_subtree_operator_diff",
                        (path, side, operator["name"], field),
                        operator[want] * unit,
                        got.get(f"{side}_{field}"),
                    )
        for i, child in enumerate(node["children"]):
            walk(child, f"{path}-{i}")
        seen.add(path)

    walk(root, "0")
    for row in (ours.keys() | operators.keys()) - seen:
        cell(trace, "tb_subtree_diff", (row, "is a row only here"), False, True)
    # Our own pairing sees the same operators inside of steps, where these are on one thread.
    graph = rows(f"SELECT * FROM subtree_diff {of_pair} AND path LIKE 'ProfilerStep*%'")
    for side, theirs in (("base", root["left"]), ("cand", root["right"])) if graph else ():
        sums = collections.Counter()
        for r in graph:
            sums[r["name"], "calls"] += r[f"{side}_calls"]
            sums[r["name"], "host_self_ns"] += r[f"{side}_host_self_ns"]
        for operator in theirs["aggs"]:
            cell(
                trace,
                "subtree_diff",
                (side, operator["name"], "calls"),
                operator["calls"],
                sums[operator["name"], "calls"],
            )
            cell(
                trace,
                "subtree_diff",
                (side, operator["name"], "host_self_ns"),
                operator["self_host_duration"] * unit,
                sums[operator["name"], "host_self_ns"],
            )


def perf(trace, trace_id, theirs):
    summary = view("mllm_summary")[trace_id][0]
    curve = sorted(
        {(r["time"], r["all_devices_bytes"]) for r in view("mllm_memory_curve")[trace_id]}
    )
    # The reference frees what is alive at the end of the recording; here it stays.
    theirs["curve"][-1][1] += summary["alive_bytes"]
    cell(trace, "mllm_memory_curve", "curve", theirs["curve"], [list(point) for point in curve])
    for name, want in (("mllm_blobs", "memory_tracks"), ("mllm_operations", "op_tracks")):
        cell(
            trace,
            name,
            "lanes",
            theirs[want],
            [r["lane"] for r in sorted(view(name)[trace_id], key=lambda r: r["event_id"])],
        )
    for field, want in (
        ("blobs", theirs["memory"]["events"]),
        ("memory_duration", theirs["memory"]["duration"]),
        ("peak_bytes", theirs["memory"]["peak_bytes"]),
        ("operations", theirs["ops"]["events"]),
        ("alive_blobs", theirs["live_at_end"]),
    ):
        cell(trace, "mllm_summary", field, want, summary[field])


def of_worker(trace, trace_id, worker):
    raw = worker["raw"]
    if "memory_records" in raw:
        memory_curve(trace, trace_id, raw["memory_records"])
        allocations(trace, trace_id, raw["memory_records"])
        memory_by_operator(trace, trace_id, raw["memory_statistics"])
    if worker.get("module_view"):
        modules(trace, trace_id, worker["module_view"]["data"])
    advice(trace, trace_id, raw["recommendations"])


def ingest(files):
    """Trace ids by path, of a store with these files."""
    subprocess.run(
        [PROGRAM, "ingest", *sorted(map(str, files)), "-o", STORE], check=True, capture_output=True
    )
    return {
        pathlib.Path(r["path"]): r["trace_id"] for r in rows("SELECT path, trace_id FROM traces")
    }


def fixtures():
    folder = ROOT / "tests/expected/tb"
    traces = {
        "resnet_cpu": "resnet_cpu.pt.trace.json.gz",
        "ddp_rank0": "ddp_rank0.pt.trace.json.gz",
        "ddp_rank1": "ddp_rank1.pt.trace.json.gz",
        "synthetic_gpu_rank0": "synthetic_gpu_rank0.json.gz",
        "synthetic_gpu_rank1": "synthetic_gpu_rank1.json.gz",
        "old_kineto": "old_kineto.json.gz",
    }
    ids = ingest(ROOT / "fixtures" / file for file in traces.values())
    ids = {trace: ids[ROOT / "fixtures" / file] for trace, file in traces.items()}
    for trace in traces:
        of_worker(trace, ids[trace], read(folder / f"{trace}.relink.json.gz")["workers"][0])
    for job in ("ddp", "synthetic_gpu"):
        distributed(f"job {job}", read(folder / f"job.{job}.relink.json.gz")["distributed"][0], ids)
    for name, base, cand in (
        ("synthetic_gpu", "synthetic_gpu_rank0", "synthetic_gpu_rank1"),
        ("ddp", "ddp_rank0", "ddp_rank1"),
        ("resnet_cpu.old_kineto", "resnet_cpu", "old_kineto"),
    ):
        diff(
            f"diff {name}",
            read(folder / f"diff.{name}.relink.json.gz")["diff"],
            1,
            ids[base],
            ids[cand],
        )


def public_traces(corpus, expected):
    listed = list(csv.DictReader(open(ROOT / "tests/expected/tb/traces.tsv"), delimiter="\t"))
    perfs = {
        "mllm_perf_sample": corpus / "public/mllm/tools/mllm-perf-viewer/perf.json",
        "mllm_perf_edge": (expected / "../data/mllm_perf_edge.json").resolve(),
    }
    ids = ingest({corpus / t["trace"] for t in listed} | set(perfs.values()))
    jobs = collections.defaultdict(dict)
    for t in listed:
        figures = expected / f"tb/{t['expected']}.relink.json.gz"
        if figures.is_file():
            trace, trace_id = (
                t["expected"] + ("" if t["worker"] == "*" else "." + t["worker"]),
                ids[corpus / t["trace"]],
            )
            jobs[t["expected"]][t["worker"]] = trace_id
            of_worker(
                trace,
                trace_id,
                next(w for w in read(figures)["workers"] if t["worker"] in ("*", w["worker"])),
            )
    for job, workers in jobs.items():
        # With one rank there is no other rank to wait for.
        if len(workers) > 1:
            distributed(job, read(expected / f"tb/{job}.relink.json.gz")["distributed"][0], workers)
    sides = [
        ids[corpus / t["trace"]]
        for t in listed
        if t["expected"].startswith("kineto.resnet50_num_workers")
    ]
    diff(
        "kineto.diff_w0_w4",
        read(expected / "tb/kineto.diff_w0_w4.plain.json.gz")["diff"],
        1000,
        *sides,
    )
    for trace, path in perfs.items():
        perf(trace, ids[path], json.load(open(expected / f"{trace}.json")))


def verdict(write):
    """What is wrong: differences that are not listed, or listed and not met; reasons without an
    explanation; a table that is not in the docs."""
    explained, tables = REASONS.read_text(), TABLES.read_text()
    listed = (
        list(csv.DictReader(open(LISTED), delimiter="\t", quoting=csv.QUOTE_NONE))
        if LISTED.is_file()
        else []
    )
    others = [r for r in listed if r["set"] != SET]
    reasons = {tuple(r[h] for h in HEAD[:-1]): r["reason"] for r in listed if r["set"] == SET}
    table = TABLE_HEAD + "".join(
        f"| {trace} | `{view}` | {equal:,} / {total:,} |\n"
        for (trace, view), (equal, total) in sorted(TABLE.items())
    )
    print(table)
    print(
        f"{sum(e for e, _ in TABLE.values()):,} of {sum(t for _, t in TABLE.values()):,} cells are "
        f"equal."
    )
    if write:
        lines = sorted(
            ["\t".join([*wrong, reasons.get(wrong, "")]) for wrong in WRONG]
            + ["\t".join(r.values()) for r in others]
        )
        LISTED.write_text("\n".join(["\t".join(HEAD), *lines]) + "\n")
        TABLES.write_text(
            re.sub(re.escape(TABLE_HEAD) + r"(\|.*\n)*", lambda _: table, tables, count=1)
        )
    wrong = [f"differs, and is not listed: {w}" for w in sorted(set(WRONG) - reasons.keys())]
    wrong += [f"listed, but does not differ so: {w}" for w in sorted(reasons.keys() - set(WRONG))]
    wrong += [
        f"the reason {r!r} is not explained in docs/tensorboard.md"
        for r in sorted(set(reasons.values()))
        if f"- `{r}`: " not in explained
    ]
    if table not in tables:
        wrong.append("docs/evidence/tensorboard.md does not have this table (--write puts it there)")
    return wrong


if SET == "fixtures":
    fixtures()
else:
    public_traces(pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3]).resolve())
sys.exit("\n".join(verdict("--write" in sys.argv)) or None)
