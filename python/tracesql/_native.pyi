"""The part that is written in Rust; see ``python/src``."""

from typing import Any

__version__: str
SCHEMA_VERSION: int

class Error(Exception):
    """What tracesql raises; its subclasses say which kind of thing went wrong."""

class UsageError(Error):
    """An argument is not right."""

class InputError(Error):
    """A trace or store cannot be read, or a store cannot be written."""

class QueryError(Error):
    """A query failed, or its result could not be written."""

class Session:
    @property
    def trace_ids(self) -> list[str]: ...
    def sql(self, text: str, parameters: dict[str, Any]) -> Rows: ...
    def stream(self, text: str, parameters: dict[str, Any]) -> Stream: ...
    def docs(self, name: str | None, style: str) -> str: ...
    def report(self, format: str, path: str | None, width: int) -> tuple[str | None, list[str]]: ...
    def pprof(
        self,
        path: str,
        sql: str | None,
        filter: str | None,
        step: int | None,
        rank: int | None,
        by_thread: bool,
    ) -> list[str]: ...

class Rows:
    def __len__(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def columns(self) -> list[tuple[str, str]]: ...
    @property
    def batches(self) -> int: ...
    def batch(self, at: int, most: int) -> list[tuple[Any, ...]]: ...
    def text(self, most: int, width: int | None) -> str: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...

class Stream:
    @property
    def columns(self) -> list[tuple[str, str]]: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...

def open(
    names: list[str],
    threads: int,
    memory_limit: str | None,
    sql: list[str],
    rules: list[str],
    settings: list[tuple[str, str]],
    strict: bool,
) -> tuple[Session, list[str]]: ...
def ingest(
    names: list[str],
    store: str,
    threads: int,
    memory_limit: str | None,
    strict: bool,
    replace: bool,
) -> tuple[list[str], list[str]]: ...
