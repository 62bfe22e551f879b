"""DuckDB: read_json with an explicit schema, one row per event, written as zstd Parquet.

Usage: duckdb_read_json.py TRACE OUT.parquet [--typed]      (plain JSON)

A Kineto trace is one JSON object, so `maximum_object_size` must hold the whole file. The schema
spares DuckDB the guessing (which fails on keys that differ in case alone, as `Bytes` and `bytes`
do), and args stays JSON text. --typed adds what a table of events needs next to that text: the
usual args as typed columns, rows sorted by track and time.
"""

import os
import sys

import duckdb

from seen import report

EVENT = (
    "STRUCT(ph VARCHAR, cat VARCHAR, name VARCHAR, pid VARCHAR, tid VARCHAR, ts DOUBLE, dur DOUBLE,"
    " id VARCHAR, s VARCHAR, bp VARCHAR, args JSON)"
)
TYPED_ARGS = {
    "External id": "BIGINT",
    "correlation": "BIGINT",
    "Sequence number": "BIGINT",
    "Fwd thread id": "BIGINT",
    "Python id": "BIGINT",
    "Python parent id": "BIGINT",
    "Python module id": "BIGINT",
    "device": "BIGINT",
    "stream": "VARCHAR",
    "Input Dims": "JSON",
    "Input type": "JSON",
    "Input Strides": "JSON",
    "Concrete Inputs": "JSON",
    "Call stack": "VARCHAR",
    "Module Hierarchy": "VARCHAR",
}


def quoted(text: str, mark: str = "'") -> str:
    return mark + text.replace(mark, mark * 2) + mark


def events_query(trace: str) -> str:
    """Returns the SELECT with one row per element of traceEvents."""
    return (
        "SELECT unnest(traceEvents, recursive := true)"
        f" FROM read_json({quoted(trace)}, format = 'unstructured', records = true,"
        f" maximum_object_size = {os.path.getsize(trace) + 64}, columns = {{traceEvents: "
        f"{quoted(EVENT + '[]')}}})"
    )


def typed_query(events: str) -> str:
    """Returns the SELECT that adds the typed args to `events` and sorts it; args is parsed once for
    all of them."""
    schema = ", ".join(
        f"{quoted(key, chr(34))}: {quoted(kind, chr(34))}" for key, kind in TYPED_ARGS.items()
    )
    return (
        f"SELECT * EXCLUDE typed, unnest(typed) FROM (SELECT *, json_transform(args, "
        f"{quoted('{' + schema + '}')})"
        f" AS typed FROM ({events})) ORDER BY pid, tid, ts, dur DESC"
    )


def main() -> None:
    trace, out, *options = sys.argv[1:]
    query = events_query(trace)
    if "--typed" in options:
        query = typed_query(query)
    connection = duckdb.connect()
    connection.execute("SET preserve_insertion_order = false")
    connection.execute(f"COPY ({query}) TO {quoted(out)} (FORMAT parquet, COMPRESSION zstd)")
    check = (
        "SELECT count(*), sum(round(dur * 1000)::BIGINT) FILTER (WHERE ph = 'X') FROM "
        "read_parquet(?)"
    )
    report(*connection.execute(check, [out]).fetchone())


if __name__ == "__main__":
    main()
