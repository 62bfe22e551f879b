"""Parts of the tests of Flight SQL with ADBC: adbc.py PART URI [ARGUMENT…]."""

import math
import sys
import threading
import time
import warnings
from pathlib import Path

import adbc_driver_flightsql.dbapi as flightsql
import adbc_driver_manager as manager
import pandas
import pyarrow as pa
import pyarrow.parquet as pq

ENDLESS = """SELECT sum(a.dur_ns * b.dur_ns + c.dur_ns * d.dur_ns + e.dur_ns)
FROM events a, events b, events c, events d, events e, events f"""
USER, PASSWORD = manager.DatabaseOptions.USERNAME.value, manager.DatabaseOptions.PASSWORD.value


def connect(uri, **options):
    return flightsql.connect(uri, db_kwargs=options, autocommit=True)


def plain(data_type):
    """The type without dictionaries, as the server sends it."""
    if pa.types.is_dictionary(data_type):
        return data_type.value_type
    if pa.types.is_list(data_type):
        return pa.list_(data_type.value_field.with_type(plain(data_type.value_type)))
    if pa.types.is_struct(data_type):
        return pa.struct([field.with_type(plain(field.type)) for field in data_type])
    return data_type


def plain_columns(schema):
    return pa.schema([field.with_type(plain(field.type)).remove_metadata() for field in schema])


def names(uri):
    """Prints all tables and views."""
    with connect(uri) as connection:
        objects = connection.adbc_get_objects(depth="tables").read_all().to_pylist()
    for catalog in objects:
        for schema in catalog["catalog_db_schemas"]:
            for table in schema["db_schema_tables"]:
                # The settings of a server are those of its configuration.
                if table["table_name"] != "tracesql_settings":
                    print(table["table_name"])


def sort_key(row):
    return [(value is None, repr(value)) for value in row.values()]


def equal(a, b):
    """Whether values are equal; sums of floats may be added in another order."""
    if isinstance(a, float) and isinstance(b, float):
        return (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-12)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(equal, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(equal(a[key], b[key]) for key in a)
    return a == b


def rounded(value):
    """A value whose order does not depend on the last bits of floats."""
    if isinstance(value, float):
        return float(f"{value:.9e}")
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return value


def rows_of(table):
    rows = table.to_pylist()
    return sorted(rows, key=lambda row: sort_key({k: rounded(v) for k, v in row.items()}))


def compare(uri, folder):
    """Compares each relation with the Parquet file of its name."""
    count, wrong = 0, []
    with connect(uri) as connection, connection.cursor() as cursor:
        for path in sorted(Path(folder).glob("*.parquet")):
            cursor.execute(f"SELECT * FROM {path.stem}")
            table = cursor.fetch_arrow_table()
            expected = pq.read_table(path)
            if plain_columns(table.schema) != plain_columns(expected.schema):
                wrong.append(f"{path.stem}: {table.schema} and {expected.schema}")
            elif not all(map(equal, rows_of(table), rows_of(expected))):
                wrong.append(f"{path.stem}: rows differ")
            elif table.num_rows != expected.num_rows:
                wrong.append(f"{path.stem}: {table.num_rows} and {expected.num_rows} rows")
            count += 1
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{count} relations are equal")


def types(uri, folder):
    """Compares the rows of types.sql with types.parquet, as Arrow, as pandas and row by row."""
    sql, path = Path(folder, "types.sql").read_text(), Path(folder, "types.parquet")
    expected = pq.read_table(path)
    with connect(uri) as connection, connection.cursor() as cursor:
        cursor.execute(sql)
        table = cursor.fetch_arrow_table()
        cursor.execute(sql)
        frame = cursor.fetch_df()
        cursor.execute(sql)
        rows = cursor.fetchall()
    assert plain_columns(table.schema) == plain_columns(expected.schema), table.schema
    assert table.to_pylist() == expected.to_pylist(), table.to_pylist()
    assert [list(row) for row in rows] == [list(row.values()) for row in expected.to_pylist()]
    from_file = expected.cast(plain_columns(expected.schema)).to_pandas()
    pandas.testing.assert_frame_equal(frame, from_file)
    for kind in ("decimal", "timestamp", "date", "struct", "list", "binary", "bool", "double"):
        assert any(kind in str(field.type) for field in table.schema), f"no {kind}"
    assert any(pa.types.is_dictionary(field.type) for field in expected.schema) or "symbol" in sql
    print(f"{table.num_columns} columns are equal")


def objects(uri):
    """All columns of all relations, as clients with a tree of tables ask for them."""
    with connect(uri) as connection:
        found = connection.adbc_get_objects(depth="columns").read_all().to_pylist()
    schemas = [schema for catalog in found for schema in catalog["catalog_db_schemas"]]
    tables = {t["table_name"]: t for schema in schemas for t in schema["db_schema_tables"]}
    assert len(tables) > 100, len(tables)
    columns = {c["column_name"]: c for c in tables["kernels_by_name"]["table_columns"]}
    assert "name" in columns, columns
    assert all(table["table_columns"] for table in tables.values())


def parameters(uri):
    with connect(uri) as connection, connection.cursor() as cursor:
        sql = "SELECT count(*) AS n FROM events WHERE name = ? AND dur_ns >= ?"
        cursor.execute(sql, ("aten::mm", 1))
        assert cursor.fetchone() == (20,)
        cursor.execute("SELECT ? AS a, ? AS b, ? AS c", (None, 1.5, True))
        assert cursor.fetchone() == (None, 1.5, True)
        cursor.execute("SELECT name, count(*) AS n FROM events WHERE name <> ? GROUP BY 1", ("x",))
        frame = cursor.fetch_df()
        assert dict(zip(frame["name"], frame["n"]))["aten::mm"] == 20
        many = [(1,), (2,)]
        refused(lambda: cursor.executemany("SELECT ? * 2", many), "run it as a query")
        cursor.adbc_prepare("SELECT $1 + 1 AS n")
        many = f"SELECT count(*) FROM events WHERE dur_ns IN ({', '.join('?' * 200)})"
        cursor.execute(many, tuple(range(2_400, 2_600)))
        assert cursor.fetchone() == (60,)
        info = connection.adbc_get_info()
        assert info["vendor_name"] == "tracesql", info
        assert connection.adbc_get_table_types() == ["TABLE", "VIEW"]
        schema = connection.adbc_get_table_schema("events")
        assert "name" in schema.names, schema


def refused(run, *texts):
    try:
        run()
    except manager.Error as error:
        missing = [text for text in texts if text not in str(error)]
        assert not missing, f"{missing} in {error}"
        return error
    raise AssertionError("it was not refused")


def errors(uri):
    with connect(uri) as connection, connection.cursor() as cursor:
        refused(lambda: cursor.execute("SELECT nam FROM events"), "at character 8")
        refused(lambda: cursor.execute("INSERT INTO events VALUES (1)"), "read-only")
        refused(lambda: cursor.execute("SELECT CAST(? AS BIGINT) + ?", (1,)), "2 parameters and 1 values")
        began = time.monotonic()

        def endless():
            cursor.execute(ENDLESS)
            cursor.fetchall()

        refused(endless, "timeout")
        assert time.monotonic() - began < 4
        table = pa.table({"x": [1]})
        refused(lambda: cursor.adbc_ingest("mine", table), "only reads")
        cursor.execute("SELECT 1")
        assert cursor.fetchone() == (1,)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with flightsql.connect(uri) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            assert cursor.fetchone() == (1,)


def cancel(uri):
    with connect(uri) as connection, connection.cursor() as cursor:
        cursor.execute(ENDLESS)
        timer = threading.Timer(0.5, cursor.adbc_cancel)
        timer.start()
        began = time.monotonic()
        refused(cursor.fetchall)
        assert time.monotonic() - began < 2
    with connect(uri) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        assert cursor.fetchone() == (1,)


def passwords(uri):
    with connect(uri, **{USER: "ann", PASSWORD: "annann"}) as connection:
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM events")
            assert cursor.fetchone() == (60,)
    wrong = {USER: "ann", PASSWORD: "bobbob"}
    refused(lambda: connect(uri, **wrong), "the user or the password is wrong")

    def without():
        with connect(uri) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT 1")

    refused(without, "token")


def certificate(_uri, folder):
    """Writes a certificate of 127.0.0.1 that signs itself, and its key."""
    import datetime
    import ipaddress

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.timezone.utc)
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=2))
        .add_extension(address, critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    Path(folder, "server.crt").write_bytes(made.public_bytes(pem))
    plain_key = key.private_bytes(
        pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    Path(folder, "server.key").write_bytes(plain_key)


def encrypted(uri, folder):
    roots = {"adbc.flight.sql.client_option.tls_root_certs": Path(folder, "server.crt").read_text()}
    user = {USER: "ann", PASSWORD: "annann"}
    uri_of_tls = uri.replace("grpc://", "grpc+tls://")
    with connect(uri_of_tls, **roots, **user) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM events")
        assert cursor.fetchone() == (60,)
    refused(lambda: connect(uri_of_tls, **user), "certificate")
    refused(lambda: connect(uri, **user))


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
