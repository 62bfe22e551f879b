"""Results of queries."""

from __future__ import annotations

import importlib
import re
import shutil
import sys
from typing import TYPE_CHECKING, Any, Iterator, overload

from . import _display, _native, _row
from ._row import Row

if TYPE_CHECKING:
    import numpy
    import pandas
    import polars
    import pyarrow

#: Rows that a result shows of itself.
SHOWN_ROWS = 20


class Result:
    """Rows of a query, held in memory as Arrow.

    It has Arrow's PyCapsule interface, so other libraries take it without a copy:
    ``pyarrow.table(result)``, ``polars.DataFrame(result)``,
    ``duckdb.sql("SELECT … FROM result")``. Displays and rows need no other package.

    >>> result = session.sql("SELECT name, dur_ns FROM kernels ORDER BY dur_ns DESC LIMIT 3")
    >>> for row in result:
    ...     print(row.name, row["dur_ns"])
    >>> result[0], result[-1], result[:2], result["name"]

    The names of DuckDB's verbs work too: ``df``, ``pl``, ``arrow``, ``fetchall`` and so on.
    """

    def __init__(self, native: _native.Rows):
        self._native = native
        self._row = _row.kind(name for name, _ in native.columns)
        # The next row of fetchone() and fetchmany().
        self._next = 0

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

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return len(self._native), len(self._native.columns)

    @property
    def description(self) -> list[tuple[str, str, None, None, None, None, None]]:
        """Name and type of each column, in the form of Python's DB-API."""
        return [(name, kind, None, None, None, None, None) for name, kind in self._native.columns]

    def __len__(self) -> int:
        return len(self._native)

    @overload
    def __getitem__(self, key: int) -> Row: ...
    @overload
    def __getitem__(self, key: slice) -> Result: ...
    @overload
    def __getitem__(self, key: str) -> list[Any]: ...
    def __getitem__(self, key: Any) -> Any:
        """A row by its number, rows by a slice, or the values of a column by its name."""
        if isinstance(key, str):
            return self._column(key)
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step != 1:
                raise _native.UsageError("rows are sliced without a step; use rows()[::2]")
            return Result(self._native.slice(start, max(stop - start, 0)))
        if not hasattr(key, "__index__"):
            raise TypeError(
                f"a result is indexed by numbers, slices and column names, not {type(key).__name__}"
            )
        at = key.__index__()
        at = at + len(self) if at < 0 else at
        if not 0 <= at < len(self):
            raise IndexError(f"there is no row {key}; the result has {_count(len(self), 'row')}")
        return next(iter(Result(self._native.slice(at, 1))))

    def _column(self, name: str) -> list[Any]:
        if name not in self.columns:
            raise KeyError(f"{name!r}; there is {', '.join(self.columns)}")
        at = self.columns.index(name)
        return [row[at] for row in self]

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

    def fetchone(self) -> Row | None:
        """The next row; None after the last one."""
        rows = self.fetchmany(1)
        return rows[0] if rows else None

    def fetchmany(self, size: int = 1) -> list[Row]:
        """The next rows, at most ``size`` of them."""
        rows = list(Result(self._native.slice(self._next, max(size, 0))))
        self._next += len(rows)
        return rows

    def fetchall(self) -> list[Row]:
        """The rows that were not fetched yet; all of them if it is called again."""
        rows = self.fetchmany(len(self))
        self._next = 0
        return rows

    def to_dicts(self) -> list[dict[str, Any]]:
        """All rows as dicts."""
        return [row._asdict() for row in self]

    def head(self, rows: int = 5) -> Result:
        """The first rows."""
        return self[: max(rows, 0)]

    def show(self, *, max_rows: int = SHOWN_ROWS, max_width: int | None = None) -> None:
        """Prints the first rows as a table."""
        print(self._text(max_rows, max_width))

    def arrow(self) -> pyarrow.Table:
        """The rows as a pyarrow Table; it shares the memory of this result."""
        return module("pyarrow", "arrow").table(self)

    def pandas(self, *, dtype_backend: str = "pyarrow") -> pandas.DataFrame:
        """The rows as a pandas DataFrame.

        By default its columns are Arrow's, so that integers with NULL stay integers.
        ``dtype_backend="numpy"`` gives classic columns: integers with NULL become floats, and
        times above 2**53 lose their last digits.
        """
        frame = module("pandas", "pandas")
        table = self.arrow()
        if dtype_backend == "pyarrow":
            exact: pandas.DataFrame = table.to_pandas(types_mapper=frame.ArrowDtype)
            return exact
        if dtype_backend == "numpy":
            classic: pandas.DataFrame = table.to_pandas()
            return classic
        raise _native.UsageError(
            f"{dtype_backend!r} is not a kind of column; use 'pyarrow' or 'numpy'"
        )

    def to_arrow_reader(self) -> pyarrow.RecordBatchReader:
        """A pyarrow reader over the batches."""
        return module("pyarrow", "arrow").RecordBatchReader.from_stream(self)

    def polars(self) -> polars.DataFrame:
        """The rows as a polars DataFrame."""
        return module("polars", "polars").DataFrame(self)

    def fetchnumpy(self) -> dict[str, numpy.ndarray[Any, Any]]:
        """The columns as numpy arrays; columns with NULL are masked arrays."""
        numpy = module("numpy", "pandas")
        table = self.arrow()
        found = {}
        for name, column in zip(table.column_names, table.columns):
            mask = column.is_null().to_numpy() if column.null_count else None
            if mask is not None and _is_number(column.type):
                column = column.fill_null(0)
            values = column.to_numpy()
            found[name] = values if mask is None else numpy.ma.masked_array(values, mask)
        return found

    # DuckDB's names, and those that libraries for data frames use for conversions.
    df = fetchdf = to_df = to_pandas = pandas
    pl = to_polars = polars
    to_arrow = to_arrow_table = fetch_arrow_table = arrow

    def _rows(self, limit: int) -> Iterator[Row]:
        for batch in range(self._native.batches):
            rows = self._native.batch(batch, limit)
            limit -= len(rows)
            yield from map(self._row, rows)
            if limit <= 0:
                return

    def _text(self, most: int, width: int | None) -> str:
        width = width or shutil.get_terminal_size((120, 24)).columns
        table = self._native.text(most, width)
        # The table advises an option of the program where it has no room for all columns.
        table = re.sub(r"columns; [^)]*\)\n?\Z", "columns; .columns has all names)\n", table)
        return table + self._footer(most)

    def __repr__(self) -> str:
        return self._text(SHOWN_ROWS, None)

    def __str__(self) -> str:
        return self.__repr__()

    def _repr_html_(self) -> str:
        most = _display.SHOWN_ROWS
        return _display.html(self._native.columns, self._rows(most), self._footer(most))

    def _footer(self, most: int) -> str:
        count = _count(len(self), "row")
        return f"the first {most} of {count}" if len(self) > most else count


def _is_number(kind: pyarrow.DataType) -> bool:
    types = module("pyarrow", "arrow").types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind))


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def module(name: str, extra: str) -> Any:
    """An optional package. The error says how to install it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"{name} is not installed; install it, or tracesql[{extra}]") from error
