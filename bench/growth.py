#!/usr/bin/env python3
"""Measures how time and memory of tracesql grow with the size of a trace and with the number of
traces. It prints Markdown, and draws the figures.

    bench/setup.sh                                                  once
    bench/.venv/bin/python bench/growth.py --program target/release/tracesql --plot growth.svg

Sizes: a CUDA trace repeated to 0.1, 1 and 5 GB of JSON (bench/make_trace.py). Numbers of traces: 1
to 1,000 ranks of a job, with 3,518 events each. For each input: ingest into a new store, a count of
events by category, and `findings`. CPU time, wall time and peak memory are those of whole
processes, the medians of --runs. Ingest has --memory-limit, queries have none.
"""

import argparse
import contextlib
import io
import shutil
import sys
from pathlib import Path

import make_trace
from measure import median_cost, run

BENCH = Path(__file__).resolve().parent
QUERIES = {
    "count": "SELECT cat, count(*), sum(dur_ns) FROM events GROUP BY 1",
    "findings": "SELECT count(*), sum(numerator) FROM findings",
}
TIMEOUT_S = 900
STORES = "growth_stores"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, default=BENCH.parent / "target/release/tracesql")
    parser.add_argument("--work", type=Path, default=BENCH / "work")
    parser.add_argument("--sizes", default="0.1,1,5", help="GB of JSON (default 0.1,1,5)")
    parser.add_argument("--traces", default="1,10,100,1000", help="numbers of traces")
    parser.add_argument("--memory-limit", default="1GiB", help="of ingest (default 1GiB)")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--plot", type=Path, help="an SVG with the figures")
    return parser.parse_args()


def made(out, *options):
    """Makes traces with bench/make_trace.py, unless they are there."""
    if not Path(str(out).replace("%d", "0")).exists():
        sys.argv = ["make_trace.py", str(out), *options]
        # It names each of a thousand files.
        with contextlib.redirect_stderr(io.StringIO()):
            make_trace.main()
    return out


def measured(args, name, inputs):
    """The costs of one input: { ingest, count, findings }, and its bytes of JSON."""
    limits = ["--memory-limit", args.memory_limit]
    ingest = [str(args.program), "ingest", "-q", *limits]
    costs = {"ingest": [], **{query: [] for query in QUERIES}}
    for number in range(args.runs):
        store = args.work / STORES / f"{name} {number}"
        costs["ingest"].append(run([*ingest, "-o", str(store), *map(str, inputs)], TIMEOUT_S)[0])
        for query, sql in QUERIES.items():
            command = [str(args.program), str(store), "-c", sql]
            costs[query].append(run(command, TIMEOUT_S)[0])
    print(f"measured {name}", file=sys.stderr)
    size = sum(path.stat().st_size for path in inputs)
    return {"name": name, "bytes": size, **{k: median_cost(v) for k, v in costs.items()}}


def table(title, rows):
    print(f"\n| {title} | MB of JSON | ingest: CPU s, wall s, MiB | count: wall s, MiB "
          "| findings: wall s, MiB |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for row in rows:
        cells = [row["name"], f"{row['bytes'] / 1e6:,.1f}"]
        cost = row["ingest"]
        cells.append(f"{cost.cpu_s:.2f}, {cost.wall_s:.2f}, {cost.peak_bytes / 2**20:.0f}")
        for query in QUERIES:
            cells.append(f"{row[query].wall_s:.2f}, {row[query].peak_bytes / 2**20:.0f}")
        print(f"| {' | '.join(cells)} |")


def plot(path, groups):
    """Draws time and memory over size and over number of traces."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "growth"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, len(groups), figsize=(10, 7), squeeze=False)
    for column, (label, xs, rows) in enumerate(groups):
        for line in ("ingest", *QUERIES):
            wall = [row[line].wall_s for row in rows]
            peak = [row[line].peak_bytes / 2**20 for row in rows]
            axes[0][column].loglog(xs, wall, marker="o", label=line)
            axes[1][column].loglog(xs, peak, marker="o", label=line)
        for axis, text in ((axes[0][column], "wall time, s"), (axes[1][column], "peak memory, MiB")):
            axis.set_xlabel(label)
            axis.set_ylabel(text)
            axis.grid(True, which="major", alpha=0.3)
            axis.legend()
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main():
    args = arguments()
    if args.plot:
        # Fails now, and not after the measurements.
        try:
            import matplotlib  # noqa: F401
        except ImportError:
            sys.exit("--plot needs matplotlib: run this with bench/.venv/bin/python")
    shutil.rmtree(args.work / STORES, ignore_errors=True)
    (args.work / STORES).mkdir(parents=True)
    sizes = [float(size) for size in args.sizes.split(",")]
    counts = [int(count) for count in args.traces.split(",")]
    by_size = []
    for size in sizes:
        path = made(args.work / f"growth_{size:g}GB.json", "--size", f"{round(size * 1000)}MB")
        by_size.append(measured(args, f"{size:g} GB", [path]))
        path.unlink()
    most = max(counts)
    many = args.work / "growth_rank_%d.json"
    made(many, "--copies", "1", "--ranks", str(most))
    of_rank = [Path(str(many).replace("%d", str(rank))) for rank in range(most)]
    by_count = [measured(args, f"{count:,}", of_rank[:count]) for count in counts]
    for path in of_rank:
        path.unlink()
    shutil.rmtree(args.work / STORES)
    table("trace", by_size)
    table("traces", by_count)
    if args.plot:
        megabytes = [row["bytes"] / 1e6 for row in by_size]
        plot(args.plot, [("JSON of one trace, MB", megabytes, by_size),
                         ("traces in a store", counts, by_count)])


if __name__ == "__main__":
    main()
