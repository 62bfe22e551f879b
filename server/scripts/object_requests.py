"""Counts requests and bytes of queries over stores on S3, for two layouts of the same traces.

    python object_requests.py PROGRAM TRACES [INPUT...]

PROGRAM is tracesql-full. Without inputs it makes TRACES small traces of its own; with inputs it
takes the first TRACES traces of them. One layout has small tables in the manifest objects, and in
the other one each table is an object of its own (`copy --separate`). It needs the packages of
../requirements.txt. docs/object-storage.md has its results.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import s3

QUERIES = [
    ("open", "SELECT count(*) FROM traces"),
    ("one small table", "SELECT count(*) FROM devices"),
    ("one large table", "SELECT count(*) FROM events"),
    ("one column of it", "SELECT sum(dur_ns) FROM events"),
    ("a view", "SELECT count(*) FROM operators"),
    ("findings", "SELECT count(*) FROM findings"),
]


def small_traces(folder, traces):
    """Traces of ranks with 60 slices each."""
    folder.mkdir()
    for rank in range(traces):
        slices = [
            {"ph": "X", "cat": "cpu_op", "name": f"aten::op{i % 7}", "pid": 1, "tid": 1,
             "ts": 10 * i + rank % 3, "dur": 2.5}
            for i in range(60)
        ]
        about = {"backend": "nccl", "rank": rank, "world_size": traces}
        trace = {"schemaVersion": 1, "distributedInfo": about, "traceEvents": slices}
        (folder / f"rank{rank}.json").write_text(json.dumps(trace))
    return [str(folder)]


def main(program, traces, inputs):
    with tempfile.TemporaryDirectory() as temporary, s3.server() as endpoint:
        folder = pathlib.Path(temporary)
        inputs = inputs[:traces] or small_traces(folder / "inputs", traces)
        common = {**os.environ, **s3.environment(endpoint)}

        def run(cache, *arguments):
            environment = {**common, "TRACESQL_CACHE": str(folder / cache)}
            begin = time.monotonic()
            done = subprocess.run([program, *arguments, "-v"], env=environment, text=True,
                                  capture_output=True)
            if done.returncode:
                sys.exit(done.stderr)
            line = re.search("requests to object storage: (.*)", done.stderr)
            return line and line.group(1), time.monotonic() - begin

        local = str(folder / "store")
        run("none", "ingest", *inputs, "-o", local)
        for layout, options in [("inline", []), ("separate", ["--separate"])]:
            url = s3.bucket(endpoint, layout) + "/run"
            requests, seconds = run("none", "copy", local, url, *options)
            print(f"{layout}: copy: {requests}; {seconds:.1f} s", flush=True)
            for name, query in QUERIES:
                # The first call of all has an empty cache, the others find the manifests there.
                for again in (["cold", "again"] if name == "open" else ["again"]):
                    requests, seconds = run(layout, "query", url, "-c", query)
                    print(f"{layout}: {name} ({again}): {requests}; {seconds:.1f} s", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
