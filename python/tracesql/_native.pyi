"""The part that is written in Rust; see ``python/src``."""

from typing import Any, Callable

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
    def row_counts(self) -> list[tuple[str, list[tuple[str, int]]]]: ...
    def sql(
        self,
        text: str,
        parameters: dict[str, Any],
        unnamed: int,
        find: Callable[[str], Any] | None,
    ) -> Rows: ...
    def stream(
        self,
        text: str,
        parameters: dict[str, Any],
        unnamed: int,
        find: Callable[[str], Any] | None,
    ) -> Stream: ...
    def register(self, name: str, frame: Any) -> None: ...
    def unregister(self, name: str) -> None: ...
    def docs(self, name: str | None, style: str) -> str: ...
    def report(
        self, format: str, path: str | None, width: int, traces: list[str]
    ) -> tuple[str | None, list[str]]: ...

class Server:
    @property
    def url(self) -> str: ...
    @property
    def closed(self) -> bool: ...
    def close(self) -> None: ...

def ui(session: Session, port: int | None, embed: str | None) -> Server: ...

class Rows:
    def __len__(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def columns(self) -> list[tuple[str, str]]: ...
    @property
    def batches(self) -> int: ...
    def batch(self, at: int, most: int) -> list[tuple[Any, ...]]: ...
    def slice(self, start: int, count: int) -> Rows: ...
    def text(self, most: int, width: int | None) -> str: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...

class Stream:
    @property
    def columns(self) -> list[tuple[str, str]]: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...

class Verdict:
    @property
    def word(self) -> str: ...
    @property
    def counts(self) -> list[tuple[str, int]]: ...
    def write(self, style: str, width: int) -> str: ...

class Comparison:
    @property
    def failures(self) -> list[tuple[str, str]]: ...
    @property
    def notes(self) -> list[str]: ...
    def write(self, style: str, width: int, limit: int) -> str: ...

def open(
    names: list[str],
    threads: int,
    memory_limit: str | None,
    sql: list[str],
    rules: list[str],
    settings: list[tuple[str, str]],
    strict: bool,
    tick: Callable[[str, int, int, int, int], None] | None,
) -> tuple[Session, list[str]]: ...
def ingest(
    names: list[str],
    store: str,
    threads: int,
    memory_limit: str | None,
    strict: bool,
    replace: bool,
    steps_from: str | None,
    tick: Callable[[str, int, int, int, int], None] | None,
) -> tuple[list[str], list[str]]: ...
def save(path: str, text: str) -> None: ...
def profile(
    session: Session,
    format: str,
    path: str | None,
    sql: str | None,
    filter: str | None,
    step: int | None,
    rank: int | None,
    by_thread: bool,
    merge_steps: bool | None,
    full_names: bool,
    rule: str,
    base: Session | None,
    measure: str | None,
    title: str | None,
    direction: str,
) -> tuple[bytes | None, list[str]]: ...
def export(
    session: Session,
    format: str,
    path: str,
    traces: list[str],
    rank: int | None,
    steps: tuple[int, int] | None,
    filter: str | None,
    views: list[str],
    sql: str | None,
    findings: bool,
    counters: bool,
    critical_path: bool,
) -> tuple[list[tuple[str, int]], list[str]]: ...
def check(
    session: Session,
    rules: list[str],
    skip: list[str],
    require: list[str],
    severity: str,
    assertions: list[str],
    baseline: Session | str | None,
    thresholds: str | None,
    save_baseline: str | None,
    max_rows: int,
) -> Verdict: ...
def compare(base: Session, cand: Session, by: list[str], fail_on: list[str]) -> Comparison: ...
