"""Data frames as tables: registered ones, and variables that a query names."""

from concurrent.futures import ThreadPoolExecutor

import pytest

import tracesql

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

NAMES = {"name": ["aten::mm", "aten::addmm", "nothing"], "most": [1, 2, 3]}
JOIN = "SELECT o.name, f.most FROM operators o JOIN {} f ON f.name = o.name ORDER BY most"
FOUND = [("aten::mm", 1), ("aten::addmm", 2)]


def kinds():
    table = pa.table(NAMES)
    return {
        "pandas": pd.DataFrame(NAMES),
        "polars": pl.DataFrame(NAMES),
        "lazy": pl.LazyFrame(NAMES),
        "table": table,
        "batch": table.to_batches()[0],
        "reader": table.to_reader(),
    }


@pytest.mark.parametrize("kind", list(kinds()))
def test_frames_join_views(gpu, kind):
    gpu.register("Limits", kinds()[kind])
    try:
        assert gpu.sql(JOIN.format("limits")).rows() == FOUND
        assert gpu.sql("SELECT count(*) FROM LIMITS").scalar() == 3
    finally:
        gpu.unregister("limits")
    with pytest.raises(tracesql.QueryError, match="no table or view limits"):
        gpu.sql("SELECT * FROM limits")
    frame = kinds()[kind]
    assert gpu.sql(JOIN.format("frame")).rows() == FOUND


def test_a_result_is_a_table_too(gpu):
    longest = gpu.sql("SELECT event_id, dur_ns FROM kernels ORDER BY dur_ns DESC LIMIT 3")
    assert gpu.sql("SELECT max(longest.dur_ns) FROM longest").scalar() == longest[0].dur_ns
    joined = gpu.sql("SELECT count(*) FROM kernels JOIN longest USING (event_id)")
    assert joined.scalar() == 3


def test_variables_are_those_of_the_caller(gpu):
    frame = pd.DataFrame({"x": [1]})

    def inner():
        frame = pd.DataFrame({"x": [1, 2]})
        return gpu.sql("SELECT count(*) FROM frame WHERE frame.x > 0").scalar(), len(frame)

    assert inner() == (2, 2)
    assert gpu.sql("SELECT count(*) FROM frame").scalar() == len(frame)
    assert gpu.stream("SELECT x FROM frame").reader().read_all().num_rows == 1
    assert gpu.sql("SELECT count(*) FROM a_global").scalar() == 4
    Upper = frame
    assert gpu.sql("SELECT count(*) FROM Upper").scalar() == len(Upper)


a_global = pa.table({"x": [1, 2, 3, 4]})


def test_tables_and_with_come_before_variables(gpu):
    kernels = pd.DataFrame({"x": [1]})
    assert gpu.sql("SELECT count(*) FROM kernels").scalar() > len(kernels)
    frame = pd.DataFrame({"x": [1, 2, 3]})
    assert gpu.sql("WITH frame AS (SELECT 1 AS x) SELECT count(*) FROM frame").scalar() == 1
    gpu.register("frame", pd.DataFrame({"x": [1, 2]}))
    assert gpu.sql("SELECT count(*) FROM frame").scalar() == 2 != len(frame)
    gpu.unregister("frame")


def test_only_frames_are_found(gpu, fixture):
    listed = [{"x": 1}]
    with pytest.raises(tracesql.QueryError, match="no table or view listed"):
        gpu.sql("SELECT * FROM listed")
    assert listed
    frame = pd.DataFrame({"x": [1]})
    strict = tracesql.open(fixture("synthetic_gpu_rank0.json.gz"), replacement_scan=False)
    with pytest.raises(tracesql.QueryError, match="no table or view frame"):
        strict.sql("SELECT * FROM frame")
    with pytest.raises(tracesql.QueryError, match="no table or view frame"):
        gpu.sql("CREATE VIEW of_frame AS SELECT * FROM frame")
    with pytest.raises(tracesql.QueryError, match="no column y in frame"):
        gpu.sql("SELECT frame.y FROM frame")
    assert len(frame) == 1


def test_the_memory_of_a_frame_is_free_after_the_query(gpu):
    before = pa.total_allocated_bytes()

    def ask():
        big = pa.table({"x": pa.array(range(1_000_000), pa.int64())})
        assert gpu.sql("SELECT max(x) FROM big").scalar() == 999_999
        assert pa.total_allocated_bytes() > before + 7_000_000
        return big.num_rows

    assert ask() == 1_000_000
    assert pa.total_allocated_bytes() < before + 1_000_000


def test_threads_name_different_frames_alike(gpu):
    def ask(n):
        frame = pl.DataFrame({"x": list(range(n))})
        return gpu.sql("SELECT count(*) FROM frame").scalar(), len(frame)

    with ThreadPoolExecutor(4) as pool:
        assert all(found == made for found, made in pool.map(ask, range(1, 40)))


def test_names_that_cannot_be_registered(gpu):
    frame = pa.table({"x": [1]})
    for name, message in [
        ("kernels", "kernels is a table"),
        ("operators", "operators is a view of tracesql"),
        ("", "cannot name a table"),
    ]:
        with pytest.raises((tracesql.UsageError, tracesql.QueryError), match=message):
            gpu.register(name, frame)
    gpu.sql("CREATE VIEW made AS SELECT 1 AS x")
    with pytest.raises(tracesql.UsageError, match="made is a table or view of this session"):
        gpu.register("made", frame)
    gpu.sql("DROP VIEW made")
    with pytest.raises(tracesql.UsageError, match="made is not a registered frame"):
        gpu.unregister("made")
    with pytest.raises(TypeError, match="not from list"):
        gpu.register("made", [1])
    assert gpu.sql("SELECT count(*) FROM operators").scalar() > 0


def test_a_trace_id_in_a_frame_is_not_taken_for_that_of_the_trace(gpu):
    others = pa.table({"trace_id": ["another"], "x": [1]})
    assert gpu.sql("SELECT count(*) FROM kernels JOIN others USING (trace_id)").scalar() == 0
    assert gpu.sql("SELECT trace_id FROM others").scalar() == "another"
    assert others.num_rows == 1


def test_values_and_indexes_arrive(gpu):
    frame = pd.DataFrame(
        {"n": [1, None], "t": ["a", None], "when": pd.to_datetime(["2026-01-02", None])}
    )
    frame["c"] = pd.Categorical(["x", "y"])
    assert gpu.sql("SELECT n, t, c FROM frame").rows() == [(1.0, "a", "x"), (None, None, "y")]
    assert gpu.sql("SELECT count(when) AS n FROM frame").scalar() == 1
    grouped = pd.DataFrame({"k": ["a", "a"], "v": [1, 2]}).groupby("k").sum()
    assert gpu.sql("SELECT k, v FROM grouped").rows() == [("a", 3)]
    cut = frame[frame.n == 1]
    assert gpu.sql("SELECT * FROM cut").columns == ["n", "t", "when", "c"]


def test_integers_of_a_table_are_not_copied(gpu):
    table = pa.table({"x": pa.array(range(1000), pa.int64())})
    gpu.register("table_of_x", table)
    try:
        there = gpu.sql("SELECT x FROM table_of_x").arrow()
    finally:
        gpu.unregister("table_of_x")
    address = table["x"].chunk(0).buffers()[1].address
    assert there["x"].chunk(0).buffers()[1].address == address
