#!/usr/bin/env python3
"""Figures of every column of a stored trace, as another tool reads its files.

    read_store.py duckdb|pandas|pyarrow FOLDER

One JSON object: table -> {"rows": n, column: [values that are not NULL, least, greatest, and for
texts the number of distinct ones; for booleans the number of true ones; for durations and bytes the
sum]}, all as text as tracesql prints them. Needs the packages of tests/requirements.txt.
"""

import json
import sys
from pathlib import Path

SUMMED = ("dur_ns", "self_ns", "bytes")


def text(value):
    if value is None:
        return "NULL"
    return str(value).lower() if isinstance(value, bool) else str(value)


def by_duckdb(path):
    import duckdb

    def rows(sql):
        return duckdb.execute(sql).fetchall()

    columns = rows(f"DESCRIBE SELECT * FROM '{path}'")
    figures = {"rows": rows(f"SELECT count(*) FROM '{path}'")[0][0]}
    for name, kind, *_ in columns:
        if kind == "BOOLEAN":
            parts = [f'count("{name}")', f'count(*) FILTER (WHERE "{name}")']
        else:
            parts = [f"count({name})", f"min({name})", f"max({name})"]
            if kind == "VARCHAR":
                parts.append(f"count(DISTINCT {name})")
        if name in SUMMED:
            parts.append(f"sum({name})")
        figures[name] = [text(v) for v in rows(f"SELECT {', '.join(parts)} FROM '{path}'")[0]]
    return figures


def of_values(name, is_text, is_flag, values):
    values = [v for v in values if v is not None]
    figures = [len(values)]
    if is_flag:
        figures.append(sum(values))
    else:
        # Texts are compared by their bytes.
        key = (lambda v: v.encode()) if is_text else None
        figures += [min(values, key=key), max(values, key=key)] if values else [None, None]
        if is_text:
            figures.append(len(set(values)))
    if name in SUMMED:
        figures.append(sum(values) if values else None)
    return [text(v) for v in figures]


def by_pyarrow(path):
    import pyarrow as pa
    import pyarrow.parquet

    table = pa.parquet.read_table(path)
    figures = {"rows": table.num_rows}
    for field in table.schema:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        values = table[field.name].to_pylist()
        figures[field.name] = of_values(
            field.name, pa.types.is_string(kind), pa.types.is_boolean(kind), values
        )
    return figures


def by_pandas(path):
    import pandas as pd

    # Nullable types: NULL must not turn integers into doubles.
    frame = pd.read_parquet(path, dtype_backend="numpy_nullable")
    figures = {"rows": len(frame)}
    for name in frame.columns:
        column = frame[name]
        values = [v.item() if hasattr(v, "item") else v for v in column.dropna()]
        is_text, is_flag = pd.api.types.is_string_dtype(column), pd.api.types.is_bool_dtype(column)
        figures[name] = of_values(name, is_text, is_flag, values)
    return figures


def main(tool, folder):
    read = {"duckdb": by_duckdb, "pandas": by_pandas, "pyarrow": by_pyarrow}[tool]
    files = sorted(Path(folder).glob("*.parquet"))
    print(json.dumps({file.stem: read(str(file)) for file in files}))


if __name__ == "__main__":
    main(*sys.argv[1:])
