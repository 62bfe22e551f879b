#!/usr/bin/env python3
"""Times every view of the library on a store: all rows and columns, written to a Parquet file by a
new process.

    bench/views.py STORE [--tracesql target/dist/tracesql] [--runs 3] [--above 0.5] [VIEW ...]

Wall and CPU seconds of each view's quickest run are printed as Markdown, the slowest first; those
below --above are only counted. On a busy machine wall times say little. Standard library only.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# One row for each pair of an event and an event above it.
LARGE_BY_NATURE = {"ancestors", "descendants"}


def measured(command):
    """Wall and CPU seconds of a process."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False
    )
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def views(program, store):
    sql = (
        "SELECT table_name FROM information_schema.tables WHERE table_type = 'VIEW' AND "
        "table_schema = 'main' ORDER BY 1"
    )
    done = subprocess.run(
        [program, store, "-c", sql, "--format", "tsv"], capture_output=True, text=True, check=True
    )
    return [name for name in done.stdout.split()[1:] if name not in LARGE_BY_NATURE]


def main():
    root = Path(__file__).resolve().parent.parent
    target = Path(os.environ.get("CARGO_TARGET_DIR", root / "target"))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("store")
    parser.add_argument("views", nargs="*")
    parser.add_argument("--tracesql", default=str(target / "dist/tracesql"))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--above", type=float, default=0.5)
    args = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in args.views or views(args.tracesql, args.store):
            command = [
                args.tracesql,
                args.store,
                "-c",
                f"SELECT * FROM {name}",
                "--format",
                "parquet",
                "-o",
                f"{folder}/out.parquet",
            ]
            rows.append((*min(measured(command) for _ in range(args.runs)), name))
    rows.sort(reverse=True)
    shown = [row for row in rows if row[0] >= args.above or args.views]
    print("| view | wall s | CPU s |\n| --- | ---: | ---: |")
    for wall, cpu, name in shown:
        print(f"| `{name}` | {wall:.2f} | {cpu:.2f} |")
    print(
        f"\n{len(rows)} views; {len(rows) - len(shown)} below {args.above} s, "
        f"{sum(row[0] >= 1 for row in rows)} at 1 s or more."
    )


if __name__ == "__main__":
    main()
