"""Data frames as tables: which objects they are, and where the caller has them."""

from __future__ import annotations

import importlib
from typing import Any, Callable

from ._calls import caller
from ._native import UsageError

#: What a query may name without registering it, by package and class.
_SCANNED = {
    "pandas": ("DataFrame",),
    "polars": ("DataFrame", "LazyFrame"),
    "pyarrow": ("Table", "RecordBatch", "RecordBatchReader"),
    "tracesql": ("Result",),
}


def is_frame(value: object) -> bool:
    """Whether a query may name a variable with this value as a table."""
    return any(
        kind.__name__ in _SCANNED.get(kind.__module__.partition(".")[0], ())
        for kind in type(value).__mro__
    )


def stream(value: Any) -> Any:
    """An object with Arrow's C stream over the rows of a frame.

    A pandas index with names becomes columns; an index without names is left out.
    """
    if type(value).__name__ == "LazyFrame":
        value = value.collect()
    if is_frame(value) and hasattr(value, "iloc"):
        try:
            arrow = importlib.import_module("pyarrow")
        except ImportError as error:
            raise ImportError(
                "pandas frames need pyarrow; install it, or tracesql[pandas]"
            ) from error
        keep = all(name is not None for name in value.index.names)
        return arrow.Table.from_pandas(value, preserve_index=keep)
    if hasattr(value, "__arrow_c_stream__"):
        return value
    if hasattr(value, "__arrow_c_array__") and is_frame(value):
        return importlib.import_module("pyarrow").Table.from_batches([value])
    raise TypeError(
        "a table is made from a pandas or polars DataFrame, a pyarrow Table, RecordBatch or "
        "RecordBatchReader, or another object with __arrow_c_stream__, "
        f"not from {type(value).__name__}"
    )


def named(name: object) -> str:
    """The name of a table for a frame: in lower case, as SQL reads names without quotes."""
    if not isinstance(name, str):
        raise TypeError(f"the name of a table is a text, not {type(name).__name__}")
    if not name or name.startswith("_"):
        raise UsageError(f"{name!r} cannot name a table; begin it with a letter")
    return name.lower()


def finder(names: dict[str, Any] | None = None) -> Callable[[str], Any]:
    """Finds frames among the variables of the caller, or among given names."""
    frame = None if names is not None else caller()[0]

    def find(name: str) -> Any:
        if names is not None:
            scopes = [names]
        elif frame is not None:
            scopes = [frame.f_locals, frame.f_globals]
        else:
            scopes = []
        for scope in scopes:
            if name in scope:
                return stream(scope[name]) if is_frame(scope[name]) else None
        return None

    return find
