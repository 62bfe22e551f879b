"""The Python of README.md runs as it stands there."""

import re
from pathlib import Path

import pytest

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
    assert "ncclDevKernel" in capsys.readouterr().out
    assert {"events.parquet", "report.html", "run.pb.gz", "store"} <= {
        p.name for p in tmp_path.iterdir()
    }
