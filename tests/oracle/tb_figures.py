"""Keep what the tests compare of the plugin's output: python3 tests/oracle/tb_figures.py OUT.json
tests/expected/tb/NAME.MODE.json.gz

OUT.json is the dump of all views of torch-tb-profiler 0.4.3 for one trace. Only what the tests read
is kept, because the whole is large.
"""

import gzip
import json
import sys

RAW = (
    "steps_names",
    "steps",
    "steps_costs",
    "avg_costs",
    "comm_overlap",
    "operators",
    "operators_by_input",
    "kernels",
    "kernels_by_op",
    "gpu",
    "tc_used_ratio",
    "tc_eligible_ops_kernel_ratio",
    "memory_records",
    "memory_statistics",
    "recommendations",
)
STACKS = ("operation_stack_by_name", "operation_stack_by_name_input")
STACK_ROW = (
    "name",
    "input_shape",
    "call_stack",
    "calls",
    "host_total_duration",
    "host_self_duration",
    "device_total_duration",
    "device_self_duration",
    "tc_eligible",
    "tc_self_ratio",
    "tc_total_ratio",
)


def main():
    source, target = sys.argv[1:]
    full = json.load(open(source))
    workers = []
    for w in full["workers"]:
        kept = {"worker": w["worker"], "raw": {k: w["raw"][k] for k in RAW if k in w["raw"]}}
        for table in STACKS:
            kept[table] = {
                name: {"data": [{k: row[k] for k in STACK_ROW if k in row} for row in rows["data"]]}
                for name, rows in w[table].items()
            }
        if w.get("module_view"):
            kept["module_view"] = w["module_view"]
        workers.append(kept)
    # Of a comparison of two traces the tests read the comparison, of a job what the plugin says of
    # its ranks together.
    if "diff" in full:
        kept = {"diff": full["diff"]}
    elif len(workers) > 1:
        kept = {"distributed": full["distributed"]}
    else:
        kept = {"workers": workers}
    text = json.dumps({"options": full["options"], **kept}, separators=(",", ":")).replace(
        ":NaN", ":null"
    )
    with open(target, "wb") as f, gzip.GzipFile(fileobj=f, mode="wb", mtime=0, filename="") as z:
        z.write(text.encode())


main()
