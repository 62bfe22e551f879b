"""Opening and reading traces."""

import os
import warnings
from pathlib import Path

import pytest

import tracesql


def test_a_trace_opens_through_the_cache(fixture):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first = tracesql.open(fixture("resnet_cpu.pt.trace.json.gz"))
        again = tracesql.open(str(fixture("resnet_cpu.pt.trace.json.gz")))
    assert first.trace_ids == again.trace_ids and len(first.trace_ids) == 1
    folders = [p for p in Path(os.environ["TRACESQL_CACHE"]).glob(f"*/{first.trace_ids[0]}")]
    assert len(folders) == 1, "it lies in the cache of the command line"
    assert repr(first).startswith(f"<tracesql.Session: {first.trace_ids[0]}, ")


def test_several_traces_and_globs_open_together(fixture):
    named = tracesql.open(
        [fixture("synthetic_gpu_rank0.json.gz"), fixture("synthetic_gpu_rank1.json.gz")]
    )
    globbed = tracesql.open(fixture("synthetic_gpu_rank*.json.gz"))
    assert sorted(named.trace_ids) == sorted(globbed.trace_ids)
    assert named.traces().arrow()["rank"].to_pylist() == [0, 1]


def test_ingest_makes_a_store_once(tmp_path, fixture):
    names = tracesql.ingest(fixture("chrome_mixed.json"), tmp_path / "s")
    assert names == tracesql.ingest([fixture("chrome_mixed.json")], str(tmp_path / "s")), (
        "the same bytes are not read again"
    )
    assert [
        p.name for p in (tmp_path / "s").iterdir() if p.is_dir() and not p.name.startswith(".")
    ] == names
    assert tracesql.ingest(fixture("chrome_mixed.json"), tmp_path / "s", replace=True) == names
    session = tracesql.open(tmp_path / "s")
    assert session.sql("SELECT count(*) FROM events").scalar() == 98
    assert session.trace_ids == names


def test_what_is_odd_is_a_warning(fixture, tmp_path):
    with pytest.warns(
        tracesql.TraceWarning, match="not_an_object.*see SELECT \\* FROM ingest_issues"
    ) as seen:
        names = tracesql.ingest(fixture("nasty.json"), tmp_path / "s")
    assert len(names) == 1
    assert seen[0].filename == __file__, "the warning is about the line that called"


def test_options(fixture, store):
    session = tracesql.open(store, threads=1, memory_limit="1GiB")
    assert session.sql("SELECT count(*) FROM traces").scalar() == 2
    assert tracesql.open(store, memory_limit=10**9).sql("SELECT 1").scalar() == 1
    name, value = session.sql(
        "SELECT name, value FROM tracesql_settings WHERE unit = 'pct' ORDER BY name LIMIT 1"
    ).rows()[0]
    changed = tracesql.open(store, settings={name: 12.5})
    assert (
        changed.sql("SELECT value FROM tracesql_settings WHERE name = $name", name=name).scalar()
        == "12.5"
        != value
    )


def test_views_of_the_user(store, tmp_path):
    folder = tmp_path / "sql" / "mine"
    folder.mkdir(parents=True)
    (folder / "longest.sql").write_text(
        "-- The longest event of each trace.\n--\n-- @column trace_id VARCHAR text The trace.\n"
        "-- @column longest_ns BIGINT ns Its duration.\n"
        "SELECT trace_id, max(dur_ns) AS longest_ns FROM events GROUP BY trace_id\n"
    )
    session = tracesql.open(store, sql=tmp_path / "sql")
    assert len(session.table("longest")) == 2
    (folder / "broken.sql").write_text("SELECT 1\n")
    with pytest.warns(tracesql.TraceWarning, match="left out: .*broken.sql"):
        tracesql.open(store, sql=[tmp_path / "sql"])


def test_nothing_has_to_be_installed(fixture):
    """Without pyarrow, pandas and polars most works; the rest says what to install."""
    import subprocess
    import sys

    code = """
import sys
sys.modules.update(pyarrow=None, pandas=None, polars=None, numpy=None)
import tracesql
result = tracesql.open(sys.argv[1]).sql("SELECT count(*) AS n FROM kernels")
assert result.rows()[0]["n"] > 0 and "n" in repr(result) and "<table" in result._repr_html_()
try:
    result.pandas()
except ImportError as e:
    print(e)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(fixture("synthetic_gpu_rank0.json.gz"))],
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (
        0,
        "pandas is not installed; install it, or tracesql[pandas]\n",
    ), done.stderr
