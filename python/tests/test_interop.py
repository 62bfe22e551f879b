"""Results in pyarrow, pandas, polars and DuckDB: the same values and, where visible, memory."""

import pytest

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
duckdb = pytest.importorskip("duckdb")

SQL = "SELECT event_id, name, dur_ns, correlation, step FROM kernels ORDER BY event_id"


def addresses(table):
    """Where the buffers of a table lie."""
    return [
        buffer.address
        for column in table.columns
        for chunk in column.chunks
        for buffer in chunk.buffers()
        if buffer is not None
    ]


def test_arrow_shares_the_memory_of_the_result(gpu):
    result = gpu.sql(SQL)
    first, second = result.arrow(), pa.table(result)
    assert first.num_rows == len(result) > 0
    assert addresses(first) == addresses(second), "each export hands out the same buffers"
    assert len(addresses(first)) >= first.num_columns
    other = gpu.sql(SQL).arrow()
    assert addresses(first) != addresses(other), (
        "another query has buffers of its own, so the comparison means something"
    )


def test_the_memory_outlives_the_result_and_the_session(fixture):
    import gc

    import tracesql

    session = tracesql.open(fixture("synthetic_gpu_rank0.json.gz"))
    table = session.sql(SQL).arrow()
    rows = session.sql(SQL).rows()
    del session
    gc.collect()
    assert [tuple(row.values()) for row in table.to_pylist()] == rows


def test_pandas_is_exact_and_shares_memory(gpu):
    result = gpu.sql(SQL)
    frame = result.pandas()
    assert list(frame["correlation"].isna()) == [row["correlation"] is None for row in result]
    assert frame["dur_ns"].sum() == gpu.sql("SELECT sum(dur_ns) FROM kernels").scalar()
    inside = pa.chunked_array(frame["dur_ns"].array.__arrow_array__())
    assert (
        inside.chunk(0).buffers()[1].address
        == result.arrow()["dur_ns"].chunk(0).buffers()[1].address
    )
    assert frame.groupby("name")["dur_ns"].sum().max() > 0
    big = gpu.sql("SELECT 9007199254740993 AS a UNION ALL SELECT NULL ORDER BY a")
    assert big.pandas()["a"][0] == 2**53 + 1
    assert big.pandas(dtype_backend="numpy")["a"].dtype == "float64"


def test_polars(gpu):
    result = gpu.sql(SQL)
    frame = result.polars()
    assert frame.rows() == result.rows()
    ints = frame["dur_ns"].to_arrow()
    assert ints.buffers()[1].address == result.arrow()["dur_ns"].chunk(0).buffers()[1].address, (
        "integers are not copied"
    )
    assert pl.DataFrame(result).equals(frame)


def test_duckdb_queries_a_result(gpu):
    result = gpu.sql(SQL)
    assert duckdb.sql("SELECT count(*), sum(dur_ns) FROM result").fetchall()[0] == (
        len(result),
        sum(row["dur_ns"] for row in result),
    )
    joined = duckdb.sql("SELECT count(*) FROM result a JOIN result b USING (event_id)").fetchall()[
        0
    ]
    assert joined == (len(result),)


def test_nested_values(gpu):
    result = gpu.sql("SELECT [1, 2] AS l, named_struct('a', 1) AS s, ['x', NULL] AS t")
    expected = {"l": [1, 2], "s": {"a": 1}, "t": ["x", None]}
    assert (
        result.arrow().to_pylist()
        == [expected]
        == result.polars().to_dicts()
        == [dict(row) for row in result]
    )


def test_every_table_and_view_goes_over(gpu):
    """Types that other tools do not take would show here."""
    seen = 0
    for row in gpu.views():
        if row["area"].startswith("compat/") or row["name"].startswith("tracesql_"):
            continue
        result = gpu.sql(f'SELECT * FROM "{row["name"]}" LIMIT 2')
        table = result.arrow()
        assert table.column_names == result.columns, row["name"]
        assert [tuple(r.values()) for r in table.to_pylist()] == [tuple(r) for r in result] or row[
            "name"
        ] in _with_times(table), row["name"]
        result.polars(), result.pandas(), duckdb.sql("SELECT * FROM result").fetchall()
        seen += 1
    assert seen > 50


def _with_times(table):
    return [f.name for f in table.schema if pa.types.is_temporal(f.type)]


def test_streams(gpu):
    stream = gpu.stream("SELECT event_id FROM events")
    total = gpu.sql("SELECT count(*) FROM events").scalar()
    assert stream.columns == ["event_id"]
    assert sum(batch.num_rows for batch in stream.reader()) == total
    with pytest.raises(Exception, match="was read already"):
        stream.reader()
    assert pl.DataFrame(gpu.stream("SELECT event_id FROM events")).height == total


def test_errors_in_streams_reach_the_reader(gpu):
    stream = gpu.stream("SELECT 1 / (event_id - event_id) AS x FROM events")
    with pytest.raises(pa.ArrowException, match="Divide by zero"):
        stream.reader().read_all()


def test_schemas_are_handed_out(gpu):
    schema = pa.schema(gpu.sql("SELECT 1 AS a, 'x' AS b"))
    assert schema.names == ["a", "b"] and schema.field("a").type == pa.int64()
