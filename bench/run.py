#!/usr/bin/env python3
"""Measures `tracesql ingest` against its peers on one large Kineto trace, side by side, and prints
Markdown.

    bench/setup.sh                                          once
    python3 bench/run.py --source TRACE.json.gz             a trace of 1 GB made from TRACE, all
                                                            peers, 3 runs each
    python3 bench/run.py --trace BIG.json --peers duckdb,go --runs 1

bench/README.md tells what each figure means. Exit status 1: tracesql failed, or a peer saw other
rows.
"""

import argparse
import csv
import gzip
import io
import json
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import contenders
import table
from contenders import BENCH, Contender, Seen
from measure import Cost, Failed, median_cost, run

REPOSITORY = BENCH.parent
QUERY_RUNS = 5
QUERIES = ("SELECT 1", "SELECT cat, count(*), sum(dur_ns) FROM events GROUP BY 1")
UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "": 1}


def parse_size(text: str) -> int:
    """Reads `1GB`, `60MB` or a number of bytes."""
    number = text.strip().upper().rstrip("KMGB")
    try:
        return round(float(number) * UNITS[text.strip().upper()[len(number) :]])
    except (KeyError, ValueError) as error:
        raise argparse.ArgumentTypeError(f"not a size: {text}") from error


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    trace = parser.add_mutually_exclusive_group(required=True)
    trace.add_argument(
        "--source", type=Path, help="real trace (.json or .json.gz) that the large one is made from"
    )
    trace.add_argument("--trace", type=Path, help="plain JSON trace to measure as it is")
    parser.add_argument(
        "--size", type=parse_size, default="1GB", help="size of the trace to make (default 1GB)"
    )
    parser.add_argument("--peers", help="comma-separated names (default: all known)")
    parser.add_argument(
        "--runs",
        type=int,
        default=3,
        help="runs of each contender; medians are printed (default 3)",
    )
    parser.add_argument(
        "--tracesql", type=Path, default=REPOSITORY / "target" / "release" / "tracesql"
    )
    parser.add_argument(
        "--peers-only", action="store_true", help="leave tracesql out: only to try peers"
    )
    parser.add_argument(
        "--work", type=Path, default=BENCH / "work", help="folder for the trace and all outputs"
    )
    parser.add_argument(
        "--timeout", type=float, default=1800, help="seconds that one run may take (default 1800)"
    )
    parser.add_argument("--json", type=Path, help="also write every single run to this file")
    arguments = parser.parse_args()
    if not arguments.peers_only and not arguments.tracesql.is_file():
        parser.error(
            f"{arguments.tracesql} is missing: run `cargo build --release` or give --tracesql"
        )
    return arguments


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def make_trace(source: Path, size: int, work: Path) -> Path:
    """Returns a trace of about `size` bytes made from `source`; one that an earlier call made is
    taken again."""
    maker = BENCH / "make_trace.py"
    if not maker.is_file():
        sys.exit(f"{maker} is missing; give a large trace with --trace instead")
    out = work / f"{source.name.split('.')[0]}-{size}.json"
    if not out.exists():
        say(f"making {out.name}")
        partial = out.with_suffix(".partial.json")
        subprocess.run([sys.executable, maker, source, partial, "--size", str(size)], check=True)
        partial.rename(out)
    return out


def make_gz(trace: Path, work: Path) -> Path:
    """Returns the trace as .gz at level 6, made with pigz or gzip where there is one."""
    out = work / (trace.name + ".gz")
    if out.exists() and out.stat().st_mtime >= trace.stat().st_mtime:
        return out
    say(f"making {out.name}")
    partial = out.with_suffix(".partial")
    packer = shutil.which("pigz") or shutil.which("gzip")
    with open(trace, "rb") as plain, open(partial, "wb") as packed:
        if packer:
            subprocess.run([packer, "-6", "-c"], stdin=plain, stdout=packed, check=True)
        else:
            with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=6) as stream:
                shutil.copyfileobj(plain, stream, 1 << 20)
    partial.rename(out)
    return out


def read_once(path: Path) -> None:
    """Brings a file into the page cache, so that no run pays for the disk and the next one not."""
    with open(path, "rb", buffering=0) as file:
        while file.read(1 << 22):
            pass


def choose(known: list[Contender], names: str | None) -> list[Contender]:
    """Returns the peers that were asked for, in the order asked."""
    if names is None:
        return known
    by_name = {peer.name: peer for peer in known}
    wanted = [name for name in names.split(",") if name]
    if unknown := [name for name in wanted if name not in by_name]:
        sys.exit(f"unknown peers: {', '.join(unknown)}; known: {', '.join(by_name)}")
    return [by_name[name] for name in wanted]


class Bench:
    """The costs of all contenders and what each saw; a contender that fails once is not run
    again."""

    def __init__(self, entrants: list[Contender], timeout_s: float):
        self.entrants = entrants
        self.timeout_s = timeout_s
        self.costs: dict[str, list[Cost]] = {entrant.name: [] for entrant in entrants}
        self.seen: dict[str, Seen] = {}
        self.failures = {
            entrant.name: entrant.unavailable for entrant in entrants if entrant.unavailable
        }

    def rounds(self, count: int) -> None:
        """Runs all once, then all again: a disturbance of the machine affects all alike."""
        for number in range(1, count + 1):
            for entrant in self.entrants:
                if entrant.name not in self.failures:
                    self.one(entrant, f"{number}/{count}")

    def one(self, entrant: Contender, label: str) -> None:
        """Runs one contender once."""
        entrant.clear()
        try:
            cost, stdout = run(entrant.command, self.timeout_s)
            if entrant.seen:
                self.seen[entrant.name] = entrant.seen(stdout)
        except Failed as failure:
            self.failures[entrant.name] = str(failure)
            say(f"{label} {entrant.name}: {failure}")
            return
        self.costs[entrant.name].append(cost)
        say(
            f"{label} {entrant.name}: {cost.cpu_s:.2f} CPU s, {cost.wall_s:.2f} s, "
            f"{cost.peak_bytes / 2**20:.0f} MiB"
        )

    def median(self, name: str) -> Cost | None:
        return (
            None
            if name in self.failures or not self.costs.get(name)
            else median_cost(self.costs[name])
        )


def query(binary: Path, store: Path, sql: str, timeout_s: float) -> tuple[Cost, str]:
    return run(
        [str(binary), "query", str(store), "-c", sql, "--format", "csv", "--quiet"], timeout_s
    )


def count_rows(binary: Path, store: Path, sql: str, timeout_s: float) -> Seen:
    """Asks a store for the two figures of one of the queries in contenders.py."""
    _, text = query(binary, store, sql, timeout_s)
    events, dur_ns = list(csv.reader(io.StringIO(text)))[-1]
    return Seen(int(events), int(dur_ns or 0))


def ask_stores(bench: Bench, arguments: argparse.Namespace) -> dict[str, Seen | None]:
    """Fills in what tracesql's stores hold; returns what each query in contenders.py expects to be
    seen."""
    expected = {}
    stored = [
        entrant for entrant in bench.entrants if entrant.seen is None and bench.median(entrant.name)
    ]
    try:
        for entrant in stored:
            bench.seen[entrant.name] = count_rows(
                arguments.tracesql, entrant.outputs[0], entrant.expects, arguments.timeout
            )
        for sql in {entrant.expects for entrant in bench.entrants if stored}:
            expected[sql] = count_rows(
                arguments.tracesql, stored[0].outputs[0], sql, arguments.timeout
            )
    except Failed as failure:
        say(f"the store could not be asked: {failure}")
    if not stored:  # the first peer's word stands in, for the others that should agree with it
        expected[contenders.EVERY_EVENT] = all_events(bench)
    return expected


def all_events(bench: Bench) -> Seen | None:
    """Returns what the first contender saw that keeps every event."""
    entrants = (
        one
        for one in bench.entrants
        if one.expects == contenders.EVERY_EVENT and one.name in bench.seen
    )
    return next((bench.seen[entrant.name] for entrant in entrants), None)


def verdict(bench: Bench, entrant: Contender, expected: dict[str, Seen | None]) -> str:
    """Says whether a contender saw what tracesql stored."""
    seen, wanted = bench.seen.get(entrant.name), expected.get(entrant.expects)
    if seen is None or wanted is None:
        return "not checked"
    if seen == wanted:
        return "yes" if entrant.expects == contenders.EVERY_EVENT else "yes, of those it keeps"
    if seen.lost and seen.events + seen.lost == wanted.events:
        return f"no: it reports that it lost {seen.lost} rows"
    return f"NO: {seen.events - wanted.events:+} rows, {seen.dur_ns - wanted.dur_ns:+} ns"


def time_queries(binary: Path, store: Path, timeout_s: float) -> list[tuple[str, Cost]]:
    """Returns the median cost of each query, run as a process of its own."""
    costs: dict[str, list[Cost]] = {sql: [] for sql in QUERIES}
    for _ in range(QUERY_RUNS):
        for sql in QUERIES:
            costs[sql].append(query(binary, store, sql, timeout_s)[0])
    return [(sql, median_cost(runs)) for sql, runs in costs.items()]


def folder_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def describe_machine() -> str:
    """Returns processor, cores, memory and system in one line."""
    processor = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            processor = next(
                line.split(":")[1].strip() for line in file if line.startswith("model name")
            )
    except (OSError, StopIteration):
        pass
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{processor}, {cores} cores, {memory:.0f} GiB, {platform.system()} {platform.release()}"


def print_results(
    bench: Bench, arguments: argparse.Namespace, trace: Path, gz: Path, load: float
) -> bool:
    """Prints all tables; returns whether tracesql ran and no peer that ran saw other rows."""
    json_bytes = trace.stat().st_size
    expected = ask_stores(bench, arguments)
    rows = [
        table.Row(
            entrant.label,
            bench.median(entrant.name),
            verdict(bench, entrant, expected),
            bench.failures.get(entrant.name, "no run"),
        )
        for entrant in bench.entrants
    ]
    whole = all_events(bench)
    events = f"{whole.events:,} events, " if whole else ""
    print(
        f"Trace: {json_bytes / 1e6:.1f} MB of JSON, {events}{gz.stat().st_size / 1e6:.1f} MB as "
        f".gz.  "
    )
    print(
        f"Machine: {describe_machine()}; load {load:.2f} before the first run. Medians of "
        f"{arguments.runs} runs.  "
    )
    print(f"Versions: {', '.join(contenders.versions(bench.entrants))}.\n")
    base = bench.median("tracesql")
    print(table.cost_table(rows, json_bytes, base))
    if base:
        store = bench.entrants[0].outputs[0]
        print("\n" + table.size_table(json_bytes, gz.stat().st_size, folder_bytes(store)))
        try:
            print(
                "\n" + table.query_table(time_queries(arguments.tracesql, store, arguments.timeout))
            )
        except Failed as failure:
            print(f"\nQueries: not run: {failure}")
    own_rows = [] if arguments.peers_only else rows[:2]
    return all(row.same_rows == "yes" for row in own_rows) and not any(
        row.same_rows.startswith("NO") for row in rows
    )


def main() -> int:
    arguments = parse_arguments()
    work = arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    trace = (
        arguments.trace.resolve()
        if arguments.trace
        else make_trace(arguments.source, arguments.size, work)
    )
    gz = make_gz(trace, work)
    entrants = choose(contenders.peers(trace, work), arguments.peers)
    if not arguments.peers_only:
        binary = arguments.tracesql.resolve()
        entrants = [
            contenders.tracesql_ingest(
                "tracesql", "**tracesql**, plain", binary, trace, work / "store"
            ),
            contenders.tracesql_ingest(
                "tracesql-gz", "**tracesql**, .gz", binary, gz, work / "store-gz"
            ),
        ] + entrants
    for path in (trace, gz):
        read_once(path)
    load = os.getloadavg()[0]
    if load > 0.5:
        say(
            f"warning: load {load:.2f}: other work runs on this machine; trust CPU time more than "
            f"wall time"
        )
    bench = Bench(entrants, arguments.timeout)
    bench.rounds(arguments.runs)
    if arguments.json:
        costs = {name: [asdict(cost) for cost in runs] for name, runs in bench.costs.items()}
        arguments.json.write_text(json.dumps(costs, indent=1) + "\n", encoding="utf-8")
    return 0 if print_results(bench, arguments, trace, gz, load) else 1


if __name__ == "__main__":
    sys.exit(main())
