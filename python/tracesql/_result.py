"""Results of queries."""

from __future__ import annotations

import importlib
import shutil
import sys
from typing import TYPE_CHECKING, Any, Iterator, overload

from . import _display, _native

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

#: Rows that a result shows of itself.
SHOWN_ROWS = 20


class Row(tuple):  # type: ignore[type-arg]
    """A row: a tuple whose values can also be had by the names of their columns.

    >>> row["name"], row[0], dict(row)
    """

    _names: tuple[str, ...] = ()
    __slots__ = ()

    @overload  # type: ignore[override]
    def __getitem__(self, key: str) -> Any: ...
    @overload
    def __getitem__(self, key: int) -> Any: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Any, ...]: ...
    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            try:
                return tuple.__getitem__(self, self._names.index(key))
            except ValueError:
                raise KeyError(f"{key!r}; there is {', '.join(self._names)}") from None
        return tuple.__getitem__(self, key)

    def keys(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self._names


class Result:
    """Rows of a query, held in memory as Arrow.

    It has Arrow's PyCapsule interface, so other libraries take it without a copy:
    ``pyarrow.table(result)``, ``polars.DataFrame(result)``,
    ``duckdb.sql("SELECT … FROM result")``. Displays and rows need no other package.

    >>> result = session.sql("SELECT name, dur_ns FROM kernels ORDER BY dur_ns DESC LIMIT 3")
    >>> for row in result:
    ...     print(row["name"], row["dur_ns"])
    """

    def __init__(self, native: _native.Rows):
        self._native = native

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._native.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._native.__arrow_c_schema__()

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return [name for name, _ in self._native.columns]

    @property
    def types(self) -> dict[str, str]:
        """SQL types by column."""
        return dict(self._native.columns)

    @property
    def nbytes(self) -> int:
        """Bytes of memory that the rows take."""
        return self._native.nbytes

    def __len__(self) -> int:
        return len(self._native)

    def __iter__(self) -> Iterator[Row]:
        return self._rows(sys.maxsize)

    def rows(self) -> list[Row]:
        """All rows, with Python's texts, numbers, booleans and bytes; structs are dicts."""
        return list(self)

    def scalar(self) -> Any:
        """The value of a result with one row and one column."""
        if len(self) != 1 or len(self.columns) != 1:
            raise _native.UsageError(
                f"this result has {_count(len(self), 'row')} and "
                f"{_count(len(self.columns), 'column')}, not one of each"
            )
        return next(iter(self))[0]

    def arrow(self) -> pyarrow.Table:
        """The rows as a pyarrow Table; it shares the memory of this result."""
        return _module("pyarrow", "arrow").table(self)

    def pandas(self, *, dtype_backend: str = "pyarrow") -> pandas.DataFrame:
        """The rows as a pandas DataFrame.

        By default its columns are Arrow's, so that integers with NULL stay integers.
        ``dtype_backend="numpy"`` gives classic columns: integers with NULL become floats, and
        times above 2**53 lose their last digits.
        """
        frame = _module("pandas", "pandas")
        table = self.arrow()
        if dtype_backend == "pyarrow":
            return table.to_pandas(types_mapper=frame.ArrowDtype)
        if dtype_backend == "numpy":
            return table.to_pandas()
        raise _native.UsageError(
            f"{dtype_backend!r} is no kind of column; use 'pyarrow' or 'numpy'"
        )

    def polars(self) -> polars.DataFrame:
        """The rows as a polars DataFrame."""
        return _module("polars", "polars").DataFrame(self)

    def _rows(self, limit: int) -> Iterator[Row]:
        kind = type("Row", (Row,), {"_names": tuple(self.columns), "__slots__": ()})
        for batch in range(self._native.batches):
            rows = self._native.batch(batch, limit)
            limit -= len(rows)
            yield from map(kind, rows)
            if limit <= 0:
                return

    def __repr__(self) -> str:
        width = shutil.get_terminal_size((120, 24)).columns
        return self._native.text(SHOWN_ROWS, width) + self._footer(SHOWN_ROWS)

    def __str__(self) -> str:
        return self.__repr__()

    def _repr_html_(self) -> str:
        most = _display.SHOWN_ROWS
        return _display.html(self._native.columns, self._rows(most), self._footer(most))

    def _footer(self, most: int) -> str:
        count = _count(len(self), "row")
        return f"the first {most} of {count}" if len(self) > most else count


class Stream:
    """Rows of a query that are made while they are read.

    It can be read once, by anything that takes Arrow streams.
    """

    def __init__(self, native: _native.Stream):
        self._native = native

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._native.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._native.__arrow_c_schema__()

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return [name for name, _ in self._native.columns]

    def reader(self) -> pyarrow.RecordBatchReader:
        """A pyarrow reader over the batches."""
        return _module("pyarrow", "arrow").RecordBatchReader.from_stream(self)

    def __repr__(self) -> str:
        return f"<tracesql.Stream: {', '.join(self.columns)}>"


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def _module(name: str, extra: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"{name} is not installed; install it, or tracesql[{extra}]") from error
