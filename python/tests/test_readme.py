"""The Python of README.md runs as it stands there."""

import re
from pathlib import Path

import pytest

import tracesql

README = Path(__file__).resolve().parents[1] / "README.md"


def test_readme(fixture, tmp_path, monkeypatch, capsys):
    for module in ("duckdb", "pandas", "polars", "pyarrow"):
        pytest.importorskip(module)
    (tmp_path / "fixtures").symlink_to(fixture("."))
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", README.read_text(), re.M | re.S)
    assert len(blocks) == 5
    names = {}
    for block in blocks:
        exec(compile(block, str(README), "exec"), names)
    shown = capsys.readouterr().out
    assert "ncclDevKernel" in shown and "rank 0, 3,518 events" in shown
    assert {
        "events.parquet",
        "gpu.svg",
        "report.html",
        "run.pb.gz",
        "step11.json.gz",
        "store",
    } <= {p.name for p in tmp_path.iterdir()}


def test_every_verb_of_the_table_exists():
    """Names of methods and attributes in the middle column are those of a session or result."""
    rows = re.findall(r"^\| (`.*?) \| (.*?) \|", README.read_text(), re.M)
    verbs = {verb for row in rows for verb in re.findall(r"`(\w+)(?:\(|`)", " ".join(row))}
    known = {*dir(tracesql), *dir(tracesql.Session), *dir(tracesql.Result)}
    assert len(verbs) > 30
    assert verbs - known <= {"duckdb", "tracesql", "with", "frame", "FROM", "SHOW", "DESCRIBE"}
