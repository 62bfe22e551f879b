"""Compares the rows of all tables, views and rules between a store in a folder and its copy on S3.

    python same_rows.py PROGRAM INPUT...

PROGRAM is tracesql-full, and each INPUT a trace or a folder of traces. It needs the packages of
../requirements.txt. Numbers may differ in their last digits, because sums depend on the order of
their terms. The exit code is 1 if other things differ.
"""

import json
import math
import os
import subprocess
import sys
import tempfile
import time

import s3


def names(program):
    reference = json.loads(subprocess.check_output([program, "docs", "--format", "json"]))
    return [item["name"] for kind in ("tables", "views", "rules") for item in reference[kind]]


def rows(program, store, views, environment):
    """The rows of each view, and the requests to object storage."""
    script = "".join(f"SELECT '-- {view}' AS mark; SELECT * FROM {view};\n" for view in views)
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as file:
        file.write(script)
        file.flush()
        begin = time.monotonic()
        command = [program, "query", store, "--format", "jsonl", "-f", file.name, "-v"]
        done = subprocess.run(command, env=environment, text=True, capture_output=True)
    if done.returncode:
        sys.exit(f"{store}: {done.stderr}")
    found = {}
    for line in done.stdout.splitlines():
        row = json.loads(line)
        if str(row.get("mark", "")).startswith("-- "):
            last = found.setdefault(row["mark"][3:], [])
        else:
            last.append(row)
    lines = [line for line in done.stderr.splitlines() if line.startswith("requests to")]
    return found, time.monotonic() - begin, lines[-1] if lines else ""


def same(a, b):
    if isinstance(a, float) or isinstance(b, float):
        return (
            isinstance(a, (int, float))
            and isinstance(b, (int, float))
            and math.isclose(a, b, rel_tol=1e-12)
        )
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b


def in_order(found):
    def rounded(value):
        return f"{value:.9g}" if isinstance(value, float) else value

    return sorted(found, key=lambda row: json.dumps({k: rounded(v) for k, v in row.items()}))


def main(program, inputs):
    views = names(program)
    with tempfile.TemporaryDirectory() as folder, s3.server() as endpoint:
        environment = {**os.environ, **s3.environment(endpoint), "TRACESQL_CACHE": folder + "/cache"}
        local, there = folder + "/store", s3.bucket(endpoint, "same-rows") + "/run"
        for target in (local, there):
            subprocess.run([program, "ingest", "-q", *inputs, "-o", target], check=True,
                           env=environment, stdout=subprocess.DEVNULL)
        here, seconds, _ = rows(program, local, views, environment)
        print(f"{local}: {seconds:.1f} s")
        away, seconds, requests = rows(program, there, views, environment)
        print(f"{there}: {seconds:.1f} s; {requests}")
    different = 0
    for view in views:
        a, b = in_order(here[view]), in_order(away[view])
        if len(a) != len(b) or not all(map(same, a, b)):
            different += 1
            print(f"DIFFERENT: {view}: {len(a)} and {len(b)} rows")
    total = sum(map(len, here.values()))
    filled = sum(1 for found in here.values() if found)
    print(f"{len(views) - different} of {len(views)} are equal ({filled} have rows, {total} rows)")
    return 1 if different else 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2:]))
