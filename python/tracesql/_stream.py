"""Results that are read once, batch by batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _native
from ._result import module

if TYPE_CHECKING:
    import pyarrow


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
        return module("pyarrow", "arrow").RecordBatchReader.from_stream(self)

    def __repr__(self) -> str:
        return f"<tracesql.Stream: {', '.join(self.columns)}>"
