"""Drivers of PostgreSQL against a server. Usage: clients.py PART PORT FOLDER"""

import asyncio
import datetime
import decimal
import io
import math
import pathlib
import sys

PORT = int(sys.argv[2])
FOLDER = pathlib.Path(sys.argv[3])
DSN = f"host=127.0.0.1 port={PORT} user=me dbname=tracesql"
EVENTS = "SELECT event_id, name, dur_ns FROM events ORDER BY event_id"


def same(got, wanted, what=""):
    assert got == wanted, f"{what}: {got!r} instead of {wanted!r}"


def connect():
    import psycopg

    return psycopg.connect(DSN, autocommit=True)


def rows(sql):
    with connect() as c:
        return c.execute(sql).fetchall()


def parquet():
    """Each driver gives the rows that the program writes as Parquet."""
    import adbc_driver_postgresql.dbapi as adbc
    import asyncpg
    import psycopg2
    import pyarrow.parquet as pq

    def plain(value):
        if isinstance(value, memoryview):
            return bytes(value)
        if isinstance(value, (list, tuple)):
            return [plain(item) for item in value]
        return "NaN" if isinstance(value, float) and math.isnan(value) else value

    def ordered(all_rows):
        return sorted(([plain(v) for v in row] for row in all_rows), key=repr)

    async def by_asyncpg(sql):
        c = await asyncpg.connect(host="127.0.0.1", port=PORT, user="me", database="tracesql")
        found = [list(r) for r in await c.fetch(sql)]
        await c.close()
        return found

    files = sorted(FOLDER.glob("*.parquet"))
    assert len(files) == 7, files
    for file in files:
        table = pq.read_table(file)
        sql = f"SELECT * FROM {file.stem}"
        wanted = ordered(zip(*[column.to_pylist() for column in table.columns]))
        with connect() as c:
            for binary in (False, True):
                got = c.execute(sql, binary=binary)
                same([d.name for d in got.description], table.column_names, file.stem)
                same(ordered(got.fetchall()), wanted, f"psycopg {binary} {file.stem}")
        c = psycopg2.connect(DSN)
        cursor = c.cursor()
        cursor.execute(sql)
        same(ordered(cursor.fetchall()), wanted, f"psycopg2 {file.stem}")
        c.close()
        same(ordered(asyncio.run(by_asyncpg(sql))), wanted, f"asyncpg {file.stem}")
        with adbc.connect(f"postgresql://me@127.0.0.1:{PORT}/tracesql") as c, c.cursor() as cursor:
            cursor.execute(sql)
            same(ordered(cursor.fetchall()), wanted, f"adbc {file.stem}")


def psycopg():
    import psycopg

    utc = datetime.timezone.utc
    values = [
        1, 2**40, 2.5, "x", True, None, b"\x00\xff", datetime.date(2020, 1, 2),
        datetime.datetime(2020, 1, 2, 3, 4, 5, 6), datetime.datetime(2020, 1, 2, tzinfo=utc),
        [1, 2, None], [1.5], decimal.Decimal("-12.50"), decimal.Decimal("1E-20"),
        decimal.Decimal(3**80), decimal.Decimal(0),
    ]
    with connect() as c:
        for value in values:
            for form in ("%t", "%b"):
                for binary in (False, True):
                    got = c.execute(f"SELECT {form}", (value,), binary=binary).fetchone()[0]
                    same(got, value, form)
        same(c.execute("SELECT %s + 1", (decimal.Decimal("1.25"),)).fetchone(), (2.25,))
        # Neighbours that no floating-point number tells apart.
        near = (
            "SELECT count(*) FROM (VALUES (1700000000000000001), (1700000000000000100)) AS t(ts) "
            "WHERE ts = "
        )
        for form in ("%t", "%b"):
            for value, number in (("1700000000000000001", 1), ("1700000000000000001.5", 0)):
                same(c.execute(near + form, (decimal.Decimal(value),)).fetchone(), (number,), value)
        limited = c.execute("SELECT name FROM events LIMIT %s", (decimal.Decimal(3),))
        same(len(limited.fetchall()), 3)
        literals = (
            "SELECT date '2020-01-02', timestamp '2020-01-02 03:04:05.6', "
            "CAST(1.25 AS DECIMAL(10, 2)), CAST(1 AS SMALLINT), CAST(1 AS INT), "
            "CAST(1.5 AS REAL), [1, 2], ['a', NULL], x'00ff', NULL, 'NaN'::DOUBLE = 'NaN'::DOUBLE, "
            "make_array(named_struct('k', 1), NULL) AS a_list_of_structs, "
            "make_array(make_array(1, 2)) AS a_list_of_lists, "
            "make_array(DATE '2024-02-29') AS a_list_of_dates, "
            "make_array(arrow_cast('a', 'Dictionary(Int32, Utf8)'), NULL) AS a_list_of_symbols, "
            "arrow_cast(x'610062', 'Utf8') AS a_zero_byte"
        )
        wanted = (
            datetime.date(2020, 1, 2), datetime.datetime(2020, 1, 2, 3, 4, 5, 600000),
            decimal.Decimal("1.25"), 1, 1, 1.5, [1, 2], ["a", None], b"\x00\xff", None, True,
            ["{k: 1}", None], ["[1, 2]"], ["2024-02-29"], ["a", None], "a\ufffdb",
        )
        for binary in (False, True):
            same(c.execute(literals, binary=binary).fetchone(), wanted, "literals")
        ids = c.execute("SELECT count(*) FROM events WHERE event_id = ANY(%s)", ([1, 2, 3],))
        same(ids.fetchone(), (3,))
        for i in range(8):
            same(c.execute("SELECT %s::BIGINT", (i,), prepare=True).fetchone(), (i,))
        everything = c.execute(EVENTS).fetchall()
        with c.transaction():
            for binary in (False, True):
                with c.cursor("mine", binary=binary) as cursor:
                    cursor.execute(
                        "SELECT event_id, name, dur_ns FROM events WHERE event_id >= %s "
                        "ORDER BY event_id",
                        (0,),
                    )
                    got = cursor.fetchmany(100)
                    same(len(got), 100)
                    same(got + cursor.fetchall(), everything, "cursor")
                    same(cursor.fetchone(), None)
        with c.cursor() as cursor:
            same(list(cursor.stream(EVENTS)), everything, "stream")
            with cursor.copy(f"COPY ({EVENTS}) TO STDOUT (FORMAT binary)") as copy:
                copy.set_types(["int8", "text", "int8"])
                same(list(copy.rows()), everything, "binary COPY")
            with cursor.copy(f"COPY ({EVENTS}) TO STDOUT") as copy:
                copy.set_types(["int8", "text", "int8"])
                same(list(copy.rows()), everything, "text COPY")
            with cursor.copy("COPY (SELECT 1 WHERE false) TO STDOUT (FORMAT binary)") as copy:
                same(list(copy.rows()), [])
        with c.pipeline():
            one, two = c.execute("SELECT 1"), c.execute("SELECT 2")
        same((one.fetchall(), two.fetchall()), ([(1,)], [(2,)]))
        for wrong, kind in [
            ("SELECT nope FROM events", psycopg.errors.UndefinedColumn),
            ("SELECT * FROM nope", psycopg.errors.UndefinedTable),
            ("SELEC 1", psycopg.errors.SyntaxError),
            ("FETCH 1 FROM nope", psycopg.errors.InvalidCursorName),
            ("DECLARE c CURSOR FOR SELECT 1", psycopg.errors.NoActiveSqlTransaction),
        ]:
            for prepare in (False, True):
                try:
                    c.execute(wrong, prepare=prepare)
                    raise AssertionError(wrong)
                except kind:
                    pass
            same(c.execute("SELECT 1").fetchone(), (1,))


def psycopg2():
    import psycopg2

    c = psycopg2.connect(DSN)
    cursor = c.cursor()
    cursor.execute("SELECT count(*) FROM events WHERE name = %s", ("aten::mm",))
    cursor.fetchone()
    everything = rows(EVENTS)
    with c.cursor("mine") as mine:
        mine.itersize = 1000
        mine.execute(EVENTS)
        same(list(mine), everything)
    c.commit()
    kept = c.cursor("kept", withhold=True)
    kept.execute(EVENTS)
    c.commit()
    same(kept.fetchmany(3), everything[:3])
    kept.close()
    text = io.StringIO()
    cursor.copy_expert(f"COPY ({EVENTS}) TO STDOUT WITH CSV HEADER", text)
    lines = text.getvalue().splitlines()
    same(lines[0], "event_id,name,dur_ns")
    cursor.copy_to(io.StringIO(), "steps")
    c.commit()


def sqlalchemy():
    import pandas
    import sqlalchemy as s

    count = rows("SELECT count(*) FROM events")[0][0]
    for driver in ("psycopg2", "psycopg"):
        engine = s.create_engine(f"postgresql+{driver}://me@127.0.0.1:{PORT}/tracesql")
        query = s.text("SELECT name, count(*) AS n FROM kernels WHERE dur_ns > :d GROUP BY 1")
        same(list(pandas.read_sql(query, engine, params={"d": 10}).columns), ["name", "n"])
        with engine.connect().execution_options(stream_results=True) as c:
            parts = pandas.read_sql("SELECT event_id FROM events", c, chunksize=1000)
            same(sum(map(len, parts)), count)
        inspector = s.inspect(engine)
        assert {"events", "kernels"} <= set(inspector.get_table_names())
        assert {"findings", "kernels_by_name"} <= set(inspector.get_view_names())
        assert inspector.get_table_comment("events")["text"]
        columns = {c["name"]: c for c in inspector.get_columns("kernels")}
        same(str(columns["dur_ns"]["type"]), "BIGINT")
        assert columns["dur_ns"]["comment"]
        same(inspector.get_pk_constraint("kernels")["constrained_columns"], [])
        same((inspector.get_foreign_keys("kernels"), inspector.get_indexes("kernels")), ([], []))
        same((inspector.has_table("events"), inspector.has_table("nope")), (True, False))
        events = s.Table("events", s.MetaData(), autoload_with=engine)
        with engine.connect() as c:
            found = c.execute(s.select(events.c.name).where(events.c.event_id.in_([1, 2]))).all()
            same(len(found), 2)
        same(len(pandas.read_sql_table("events", engine)), count)


def asyncpg():
    import asyncpg

    async def main():
        where = dict(host="127.0.0.1", port=PORT, user="me", database="tracesql")
        c = await asyncpg.connect(**where)
        everything = rows(EVENTS)
        same([tuple(r) for r in await c.fetch(EVENTS)], everything)
        statement = await c.prepare("SELECT name FROM events WHERE event_id > $1 LIMIT $2")
        same([p.name for p in statement.get_parameters()], ["int8", "int8"])
        same(len(await statement.fetch(5, 2)), 2)
        async with c.transaction():
            same([tuple(r) async for r in c.cursor(EVENTS, prefetch=500)], everything)
        out = io.BytesIO()
        await c.copy_from_query(EVENTS, output=out, format="csv", header=True)
        same(out.getvalue().splitlines()[0], b"event_id,name,dur_ns")
        same(await c.fetchval("SELECT [1, 2]"), [1, 2])
        same(await c.fetchval("SELECT ['a', NULL]"), ["a", None])
        same(await c.fetchval("SELECT [1.5]"), [1.5])
        same(await c.fetchval("SELECT count(*) FROM events WHERE event_id = ANY($1)", [1, 2]), 2)
        # The error arrives although the driver waits before it synchronises.
        for _ in range(2):
            try:
                await asyncio.wait_for(c.fetch("SELECT nope FROM events"), 20)
                raise AssertionError("an error")
            except asyncpg.UndefinedColumnError:
                pass
        cross = "SELECT count(*) FROM events a, events b, events c WHERE a.name < b.name || c.name"
        try:
            await c.fetch(cross, timeout=1)
            raise AssertionError("a timeout")
        except TimeoutError:
            pass
        same(await c.fetchval("SELECT 1"), 1)
        await c.close()
        pool = await asyncpg.create_pool(**where, min_size=2, max_size=3)
        values = await asyncio.gather(*[pool.fetchval("SELECT $1::BIGINT", i) for i in range(9)])
        same(values, list(range(9)))
        await pool.close()

    asyncio.run(main())


def adbc():
    import adbc_driver_postgresql.dbapi as adbc

    with adbc.connect(f"postgresql://me@127.0.0.1:{PORT}/tracesql") as c:
        with c.cursor() as cursor:
            cursor.execute(EVENTS)
            table = cursor.fetch_arrow_table()
            same([str(t) for t in table.schema.types], ["int64", "string", "int64"])
            same([tuple(r.values()) for r in table.to_pylist()], rows(EVENTS))
            cursor.execute("SELECT event_id FROM events WHERE event_id = $1", (5,))
            same(cursor.fetchall(), [(5,)])
        same(c.adbc_get_info()["vendor_name"], "PostgreSQL")
        same(c.adbc_get_table_schema("steps").names[0], "trace_id")


def pgcli():
    """The questions that the shell pgcli asks for its completion."""
    import pgcli.pgexecute

    c = pgcli.pgexecute.PGExecute("tracesql", "me", "", "127.0.0.1", str(PORT))
    assert "public" in c.schemata() and "public" in c.search_path()
    assert "tracesql" in c.databases()
    assert ("public", "kernels") in list(c.tables())
    views = rows("SELECT name FROM tracesql_views WHERE kind = 'view'")
    missing = {("public", name) for (name,) in views} - {*c.views(), *c.tables()}
    assert not missing, missing
    columns = {(table, name): kind for _, table, name, kind, *_ in c.table_columns()}
    same(columns["kernels", "dur_ns"], "bigint")
    columns = {(table, name) for _, table, name, *_ in c.view_columns()}
    assert ("findings", "status") in columns
    same(list(c.foreignkeys()), [], "foreign keys")
    list(c.datatypes())
    assert any(function.func_name == "count" for function in c.functions())
    for _, found, _, status, _, is_right, *_ in c.run("SELECT count(*) AS n FROM steps"):
        assert is_right and list(found) == rows("SELECT count(*) FROM steps"), status


def settings():
    """Settings of the start, of SET and of set_config apply, and clients hear of them."""
    import asyncpg
    import psycopg

    def value(c, sql):
        return c.execute(sql).fetchone()[0]

    options = "-c statement_timeout=5s -c tracesql.advice_memory_pct=7 -c TimeZone=europe/berlin"
    with psycopg.connect(DSN, autocommit=True, options=options) as c:
        for _ in range(2):
            same(value(c, "SHOW tracesql.advice_memory_pct"), "7")
            same(value(c, "SELECT current_setting('tracesql.advice_memory_pct')"), "7")
            same(value(c, "SELECT setting('advice_memory_pct')"), 7.0)
            same(value(c, "SHOW statement_timeout"), "5s")
            same(c.info.parameter_status("TimeZone"), "Europe/Berlin")
            # RESET goes back to the settings of the start.
            c.execute("SET tracesql.advice_memory_pct = 8")
            c.execute("SET statement_timeout = 0")
            c.execute("SET TimeZone = 'UTC'")
            same(c.info.parameter_status("TimeZone"), "UTC")
            c.execute("RESET ALL")
        with c.transaction():
            c.execute("SET LOCAL tracesql.advice_memory_pct = 9")
            c.execute("SET LOCAL timezone = 'utc'")
            same(c.info.parameter_status("TimeZone"), "UTC")
            same(value(c, "SHOW tracesql.advice_memory_pct"), "9")
        same(c.info.parameter_status("TimeZone"), "Europe/Berlin")
        same(value(c, "SHOW tracesql.advice_memory_pct"), "7")
        c.execute("SET application_name = 'x'")
        c.execute("DISCARD ALL")
        same(c.info.parameter_status("application_name"), "")
        same(value(c, "SELECT set_config('TimeZone', 'utc', false)"), "UTC")
        same(c.info.parameter_status("TimeZone"), "UTC")
        same(value(c, "SELECT set_config('statement_timeout', '4s', true)"), "4s")
        same(value(c, "SHOW statement_timeout"), "5s")
        for wrong, kind in [
            ("SET TimeZone = 'nonsense'", psycopg.errors.InvalidParameterValue),
            ("SELECT set_config('TimeZone', 'no', false)", psycopg.errors.InvalidParameterValue),
            ("SELECT set_config('tracesql.advice_memory_pct', '1', false)",
             psycopg.errors.FeatureNotSupported),
            ("SELECT set_config('datafusion.x', '1', false)",
             psycopg.errors.InsufficientPrivilege),
            ("SELECT set_config('nope', '1', false)", psycopg.errors.UndefinedObject),
            ("SELECT current_setting('nope')", psycopg.errors.UndefinedObject),
        ]:
            try:
                c.execute(wrong)
                raise AssertionError(wrong)
            except kind:
                pass
    for wrong in ("datafusion.x=1", "tracesql.nope=1", "statement_timeout=soon",
                  "tracesql.advice_memory_pct=x"):
        try:
            psycopg.connect(DSN, options=f"-c {wrong}").close()
            raise AssertionError(wrong)
        except psycopg.OperationalError as e:
            assert "FATAL" in str(e), e

    async def by_asyncpg():
        chosen = {"tracesql.advice_memory_pct": "7"}
        c = await asyncpg.connect(
            host="127.0.0.1", port=PORT, user="me", database="tracesql", server_settings=chosen
        )
        same(await c.fetchval("SELECT setting('advice_memory_pct')"), 7.0)
        await c.close()

    asyncio.run(by_asyncpg())


def sessions():
    import psycopg

    with connect() as one, connect() as other:
        one.execute("SET tracesql.advice_memory_pct = 123")
        one.execute("SET statement_timeout = '5s'")
        one.execute("CREATE VIEW mine AS SELECT 1 AS x")
        same(one.execute("SELECT * FROM mine").fetchall(), [(1,)])
        same(one.execute("SHOW tracesql.advice_memory_pct").fetchone(), ("123",))
        assert other.execute("SHOW tracesql.advice_memory_pct").fetchone() != ("123",)
        same(other.execute("SHOW statement_timeout").fetchone(), ("0",))
        listed = "SELECT count(*) FROM pg_views WHERE viewname = 'mine'"
        same(other.execute(listed).fetchone(), (0,))
        try:
            other.execute("SELECT * FROM mine")
            raise AssertionError("a view of another connection")
        except psycopg.errors.UndefinedTable:
            pass


globals()[sys.argv[1]]()
print("ok")
