"""What results are in Python alone."""

import math

import pytest

import tracesql

EVERYTHING = """
    SELECT 1 AS i, CAST(NULL AS BIGINT) AS n, 9007199254740993 AS big, 1.5 AS f, 'it''s' AS t,
           true AS b, [1, NULL, 3] AS l, named_struct('x', 1, 'y', 'z') AS s, X'00ff' AS raw,
           CAST(2 AS SMALLINT) AS small, DATE '2026-11-21' AS d, NULL AS nothing"""


def test_values_are_those_of_python(gpu):
    (row,) = gpu.sql(EVERYTHING).rows()
    assert dict(row) == {
        "i": 1,
        "n": None,
        "big": 2**53 + 1,
        "f": 1.5,
        "t": "it's",
        "b": True,
        "l": [1, None, 3],
        "s": {"x": 1, "y": "z"},
        "raw": b"\x00\xff",
        "small": 2,
        "d": "2026-11-21",
        "nothing": None,
    }
    assert type(row["i"]) is int and type(row["b"]) is bool


def test_rows_are_tuples_with_names(gpu):
    result = gpu.sql(
        "SELECT step, count(*) AS count FROM kernels WHERE step IS NOT NULL "
        "GROUP BY step ORDER BY step"
    )
    assert result.columns == ["step", "count"] and result.types == {
        "step": "BIGINT",
        "count": "BIGINT",
    }
    assert len(result) == 4
    rows = list(result)
    assert rows == result.rows() == list(result), "a result can be gone through again"
    step, count = rows[0]
    assert (rows[0]["step"], rows[0]["count"], rows[0][-1], rows[0][:1]) == (
        step,
        count,
        count,
        (step,),
    )
    with pytest.raises(KeyError, match="there is step, count"):
        rows[0]["steps"]


def test_all_batches_are_there(gpu):
    result = gpu.sql("SELECT event_id FROM events ORDER BY event_id")
    ids = [row[0] for row in result]
    assert len(ids) == len(result) == gpu.sql("SELECT count(*) FROM events").scalar()
    assert ids == sorted(ids)
    assert result.nbytes >= 8 * len(ids)


def test_empty_results_keep_their_columns(gpu):
    result = gpu.sql("SELECT name, dur_ns FROM events WHERE false")
    assert (len(result), result.rows(), result.columns) == (0, [], ["name", "dur_ns"])
    assert result.arrow().schema.names == ["name", "dur_ns"]
    assert result.pandas().shape == (0, 2)


def test_scalars(gpu):
    assert gpu.sql("SELECT 1").scalar() == 1
    with pytest.raises(tracesql.UsageError, match="2 rows and 1 column, not one of each"):
        gpu.sql("SELECT * FROM (VALUES (1), (2))").scalar()


def test_parameters(gpu):
    sql = "SELECT $i + 1 AS i, $t AS t, $f * 2 AS f, $b AS b, $z IS NULL AS z, $query AS q"
    assert gpu.sql(sql, i=41, t="it's", f=1.5, b=True, z=None, query="free").rows() == [
        (42, "it's", 3.0, True, True, "free")
    ]
    for numpy_value, expected in _numpy():
        assert gpu.sql("SELECT $v", v=numpy_value).scalar() == expected
    with pytest.raises(
        tracesql.UsageError, match=r"\$v: 18446744073709551616 does not fit into 64 bits"
    ):
        gpu.sql("SELECT $v", v=2**64)
    with pytest.raises(tracesql.UsageError, match=r"\$v: a dict cannot be a value in SQL"):
        gpu.sql("SELECT $v", v={})
    assert math.isnan(gpu.sql("SELECT $v", v=math.nan).scalar())


def _numpy():
    numpy = pytest.importorskip("numpy")
    return [(numpy.int64(7), 7), (numpy.float64(0.5), 0.5), (numpy.str_("x"), "x")]


def test_several_statements_give_the_last_result(gpu):
    gpu.sql("CREATE VIEW mine AS SELECT 5 AS x")
    assert gpu.sql("CREATE OR REPLACE VIEW mine AS SELECT 6 AS x; SELECT x FROM mine").scalar() == 6
    gpu.sql("DROP VIEW mine")


def test_tables_views_and_docs(gpu):
    assert len(gpu.table("kernels", limit=3)) == 3
    views = {row["name"]: row for row in gpu.views()}
    assert views["kernels"]["kind"] == "table" and views["operators"]["summary"].endswith(".")
    assert {row["area"] for row in gpu.views("stacks")} == {"stacks"}
    overview, one = gpu.docs(), gpu.docs("kernels")
    assert "operators" in overview and "correlation" in one
    assert repr(one) == str(one) and one._repr_markdown_().startswith("#")
    assert gpu.docs("kernels", format="json").startswith("{")
    with pytest.raises(tracesql.UsageError, match="did you mean kernels"):
        gpu.docs("kernel5")


def test_pprof(gpu, tmp_path):
    path = tmp_path / "run.pb.gz"
    gpu.pprof(path)
    assert path.read_bytes()[:2] == b"\x1f\x8b"
    gpu.pprof(tmp_path / "step.pb.gz", step=11)
    assert (tmp_path / "step.pb.gz").stat().st_size < path.stat().st_size


def test_reports(gpu, tmp_path):
    text = gpu.report("text")
    assert "kernel" in text.lower() and repr(text) == str(text)
    assert gpu.report(path=tmp_path / "r.md") == str(tmp_path / "r.md")
    assert (tmp_path / "r.md").read_text().startswith("#")
    page = gpu.report()
    assert page.startswith("<!") and repr(page).endswith("characters of HTML>")
    assert page._repr_html_().startswith('<iframe srcdoc="&lt;!')
    gpu.report("json", tmp_path / "r.txt")
    assert (tmp_path / "r.txt").read_text().startswith("{")
    with pytest.raises(tracesql.UsageError, match="not a format of a report"):
        gpu.report("pdf")
