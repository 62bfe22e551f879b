"""The fast Python way: orjson, then a Polars frame with a fixed schema, written as zstd Parquet.

Usage: orjson_polars.py TRACE OUT.parquet      (plain JSON). args stays one column of compact JSON.
"""

import sys

import orjson
import polars as pl

from seen import report

TEXT_KEYS = (
    "ph",
    "cat",
    "name",
    "pid",
    "tid",
    "id",
    "s",
    "bp",
)  # pid, tid and id may be numbers or text
TIME_KEYS = ("ts", "dur")


def as_text(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else str(value)


def args_text(args: object) -> str | None:
    return None if args is None else orjson.dumps(args).decode()


def load_frame(path: str) -> pl.DataFrame:
    """Returns one row per element of traceEvents; times stay the floating microseconds of the
    file."""
    with open(path, "rb") as file:
        events = orjson.loads(file.read())["traceEvents"]
    columns = [
        pl.Series(key, [as_text(event.get(key)) for event in events], pl.String)
        for key in TEXT_KEYS
    ]
    columns += [
        pl.Series(key, [event.get(key) for event in events], pl.Float64, strict=False)
        for key in TIME_KEYS
    ]
    columns.append(pl.Series("args", [args_text(event.get("args")) for event in events], pl.String))
    return pl.DataFrame(columns)


def main() -> None:
    trace, out = sys.argv[1:]
    frame = load_frame(trace)
    frame.write_parquet(out, compression="zstd")
    durations_us = frame.filter(pl.col("ph") == "X")["dur"]
    report(len(frame), (durations_us * 1000).round().sum())


if __name__ == "__main__":
    main()
