"""The verbs that people know from DuckDB, on results and on sessions."""

import copy
import pickle

import pytest

import tracesql

SQL = "SELECT step, count(*) AS count, min(name) AS name FROM kernels GROUP BY step ORDER BY step"


def test_the_ten_most_used_verbs_of_duckdb_work(gpu):
    """The same calls on a connection of DuckDB and on a session give the same values."""
    duckdb = pytest.importorskip("duckdb")
    for module in ("numpy", "pandas", "polars", "pyarrow"):
        pytest.importorskip(module)
    query = "SELECT x, x * 2 AS y FROM (VALUES (1), (2), (3)) AS t(x) WHERE x >= ? ORDER BY x"

    def answers(connection):
        found = {
            "execute": connection.execute(query, [2]).fetchall(),
            "fetchall": (connection.execute(query, [1]), connection.fetchall())[1],
            "fetchone": (connection.execute(query, [1]).fetchone(), connection.fetchall()),
            "fetchmany": (connection.execute(query, [1]).fetchmany(2), connection.fetchall()),
            "sql": connection.sql(query, params=[2]).fetchall(),
            "df": connection.execute(query, [1]).df().to_dict("list"),
            "fetchdf": connection.execute(query, [1]).fetchdf()["y"].tolist(),
            "pl": connection.sql(query, params=[1]).pl().to_dicts(),
            "to_dicts": connection.sql(query, params=[1]).to_dicts(),
            "head": connection.sql(query, params=[1]).head(2).fetchall(),
            "fetchnumpy": {
                name: values.tolist()
                for name, values in connection.execute(query, [1]).fetchnumpy().items()
            },
            "description": (
                [c[0] for c in connection.execute(query, [1]).description],
                connection.fetchall(),
            ),
            "columns": connection.sql(query, params=[1]).columns,
            "shape": connection.sql(query, params=[1]).shape,
        }
        import pandas

        limits = pandas.DataFrame({"x": [2, 3]})
        connection.register("limits_of_x", limits)
        found["register"] = connection.sql("SELECT sum(x) FROM limits_of_x").fetchall()
        connection.unregister("limits_of_x")
        found["scan"] = connection.sql("SELECT count(*) FROM limits").fetchall()
        return found

    ours, theirs = answers(gpu), answers(duckdb.connect())
    for verb, expected in theirs.items():
        assert ours[verb] == expected, verb
    assert len(theirs) >= 10


def test_sessions_and_results_have_the_same_names_for_conversions(gpu):
    pa = pytest.importorskip("pyarrow")
    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    result = gpu.execute(SQL)
    assert gpu.arrow().equals(result.arrow()) and gpu.df().equals(result.pandas())
    assert gpu.pl().equals(result.polars()) and gpu.fetchdf().shape == result.shape
    for name in ("df", "fetchdf", "to_df", "to_pandas"):
        assert getattr(result, name)().equals(result.pandas())
    for name in ("pl", "to_polars"):
        assert getattr(result, name)().equals(result.polars())
    for name in ("to_arrow", "to_arrow_table", "fetch_arrow_table"):
        assert isinstance(getattr(result, name)(), pa.Table)
    assert gpu.query("SELECT 3").fetchall() == [(3,)]


def test_rows_are_fetched_one_by_one_in_pieces_or_together(gpu):
    result = gpu.sql(SQL)
    rows = result.rows()
    assert [result.fetchone(), *result.fetchmany(2)] == rows[:3]
    assert result.fetchall() == rows[3:]
    assert result.fetchall() == rows, "a result can be fetched again"
    assert result.fetchmany(len(rows)) == rows and result.fetchone() is None
    assert result.fetchmany() == []


def test_rows_and_columns_by_index_and_name(gpu):
    result = gpu.sql(SQL)
    rows = result.rows()
    assert result[0] == rows[0] and result[-1] == rows[-1]
    assert result[1:3].rows() == rows[1:3] and len(result[3:1]) == 0
    assert result["step"] == [row[0] for row in rows]
    assert result.shape == (len(rows), 3)
    with pytest.raises(IndexError, match="no row 99"):
        result[99]
    with pytest.raises(KeyError, match="'steps'; there is step, count, name"):
        result["steps"]
    with pytest.raises(TypeError, match="not float"):
        result[1.5]
    many = gpu.sql("SELECT event_id FROM events ORDER BY event_id")
    assert many[2000].event_id == many.rows()[2000][0]
    assert many[100:3000]["event_id"] == [row[0] for row in many.rows()[100:3000]]


def test_values_of_rows_are_attributes(gpu):
    row = gpu.sql("SELECT 1 AS step, 'x' AS count, 3 AS \"a b\", 4 AS keys").fetchone()
    assert (row.step, row.count, row["a b"], row["keys"]) == (1, "x", 3, 4)
    assert repr(row) == "Row(step=1, count='x', a b=3, keys=4)"
    assert dict(row) == row._asdict() == {"step": 1, "count": "x", "a b": 3, "keys": 4}
    with pytest.raises(AttributeError, match="no column setp; it has step, count"):
        row.setp
    again = pickle.loads(pickle.dumps(row))
    assert again == row and again.step == 1 and copy.deepcopy(row).step == 1


def test_a_data_frame_of_a_result_keeps_the_names_of_its_columns(gpu):
    pandas = pytest.importorskip("pandas")
    result = gpu.sql(SQL)
    assert list(pandas.DataFrame(result).columns) == result.columns


def test_null_is_masked_in_numpy(gpu):
    numpy = pytest.importorskip("numpy")
    found = gpu.sql("SELECT * FROM (VALUES (1, 'x'), (NULL, NULL)) AS t(n, s)").fetchnumpy()
    assert isinstance(found["n"], numpy.ma.MaskedArray) and found["n"].dtype == "int64"
    assert found["n"].tolist() == [1, None] and found["s"].mask.tolist() == [False, True]
    assert not isinstance(gpu.sql("SELECT 1 AS n").fetchnumpy()["n"], numpy.ma.MaskedArray)


def test_show_prints_a_table(gpu, capsys):
    gpu.sql(SQL).show(max_rows=2)
    assert capsys.readouterr().out.endswith("the first 2 of 5 rows\n")


def test_each_thread_fetches_its_own_result(gpu):
    from concurrent.futures import ThreadPoolExecutor

    def ask(n):
        gpu.execute("SELECT ? AS n", [n])
        return gpu.fetchone().n

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ask, range(40))) == list(range(40))
    session = tracesql.open(gpu._inputs)
    with pytest.raises(tracesql.UsageError, match="call session.execute"):
        session.fetchall()


def test_with_closes_a_session(fixture):
    with tracesql.open(fixture("chrome_mixed.json")) as session:
        result = session.execute("SELECT count(*) AS n FROM events")
        assert not session.closed
    assert session.closed and repr(session) == "<tracesql.Session: closed>"
    assert result[0].n == 98, "results outlive the session"
    for call in (
        lambda: session.sql("SELECT 1"),
        lambda: session.fetchall(),
        lambda: session.report(),
        lambda: session.trace_ids,
        lambda: session.__enter__(),
    ):
        with pytest.raises(tracesql.UsageError, match="closed; open the traces again"):
            call()
    session.close()
