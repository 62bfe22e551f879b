"""A session: traces that are open, and SQL over them."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from . import _describe, _frames, _native, _parameters
from ._result import Result
from ._row import Row
from ._shown import Text
from ._stream import Stream
from ._tools import Tools

if TYPE_CHECKING:
    import numpy
    import pandas
    import polars
    import pyarrow


class Session(Tools):
    """Traces that are open. Made by :func:`tracesql.open`.

    Several threads may use a session; their queries run at the same time. It holds no lock on the
    files. ``with`` closes it at its end, as :meth:`close` does; a session that nothing refers to is
    closed too.
    """

    def __init__(
        self, native: _native.Session, *, inputs: list[str] | None = None, scan: bool = True
    ):
        self._opened: _native.Session | None = native
        self._inputs = inputs or []
        self._scan = scan
        # The last result of execute(), by thread.
        self._last = threading.local()

    @property
    def _engine(self) -> _native.Session:
        if self._opened is None:
            raise _parameters.closed()
        return self._opened

    def close(self) -> None:
        """Ends the session and frees its memory. Results stay as they are.

        Queries that other threads run go on to their end.
        """
        self._opened = None
        self._last = threading.local()

    @property
    def closed(self) -> bool:
        """Whether the session was closed."""
        return self._opened is None

    def __enter__(self) -> Session:
        self._engine  # A closed session is not entered.
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def sql(self, query: str, params: Any = None, /, **named: Any) -> Result:
        """Runs SQL; the result of the last statement.

        ``$name`` in the SQL stands for the value of that name, ``?`` and ``$1`` for values in a
        list. A list as a value stands for several: ``WHERE step IN $steps``. A data frame of pandas
        or polars, a table of pyarrow or another result is read as a table if a variable of that
        name refers to it, unless there is a table or view of that name.

        Other Python threads run meanwhile, and Ctrl-C stops the query. The rows are held in memory;
        use :meth:`stream` for more of them than fit.

        >>> session.sql("SELECT name, dur_ns FROM events WHERE step = $step LIMIT 3", step=10)
        >>> session.sql("SELECT count(*) FROM events WHERE step = ? AND cat = ?", [10, "kernel"])
        >>> session.sql("SELECT count(*) FROM events WHERE step IN $steps", {"steps": [10, 11]})
        """
        values, unnamed = _parameters.bound(_parameters.check(query), params, named)
        return Result(self._engine.sql(query, values, unnamed, self._find(None)))

    query = sql

    def execute(self, query: str, params: Any = None, /, **named: Any) -> Result:
        """Runs SQL like :meth:`sql`.

        The session then has the verbs of the result too, as connections of DuckDB have them:
        ``session.execute(…)``, then ``session.fetchall()``. Each thread has its own last result.
        """
        self._last.result = self.sql(query, params, **named)
        result: Result = self._last.result
        return result

    def stream(self, query: str, params: Any = None, /, **named: Any) -> Stream:
        """Runs SQL whose rows are made while they are read. For parameters see :meth:`sql`.

        The stream is read once, by anything that takes Arrow streams.

        >>> import pyarrow as pa
        >>> for batch in pa.RecordBatchReader.from_stream(session.stream("SELECT * FROM events")):
        ...     print(batch.num_rows)
        """
        values, unnamed = _parameters.bound(_parameters.check(query), params, named)
        return Stream(self._engine.stream(query, values, unnamed, self._find(None)))

    def _find(self, names: dict[str, Any] | None) -> Any:
        return _frames.finder(names) if self._scan else None

    def _sql_in(self, names: dict[str, Any], query: str, named: dict[str, Any]) -> Result:
        """Runs SQL with the data frames of a notebook."""
        values, unnamed = _parameters.bound(query, None, named)
        return Result(self._engine.sql(query, values, unnamed, self._find(names)))

    def register(self, name: str, frame: Any) -> Session:
        """Makes a data frame a table that SQL can name and join.

        Takes frames of pandas and polars, tables, batches and readers of pyarrow, results, and
        other objects with ``__arrow_c_stream__``. The table shares their memory where they are
        Arrow; a reader is read to its end. A name that is registered already stands for the new
        frame. Tables and views of tracesql keep their names.

        >>> session.register("limits", pandas.DataFrame({"name": ["aten::mm"], "most_ns": [5e6]}))
        >>> session.sql("SELECT * FROM operators JOIN limits USING (name)")
        """
        self._engine.register(_frames.named(name), _frames.stream(frame))
        return self

    def unregister(self, name: str) -> Session:
        """Removes a table that :meth:`register` made."""
        self._engine.unregister(_frames.named(name))
        return self

    def table(self, name: str, *, limit: int | None = None) -> Result:
        """All rows of a table or view, or the first ones of them.

        >>> session.table("kernels", limit=100).pandas()
        """
        most = "" if limit is None else f" LIMIT {int(limit)}"
        return self.sql(f"SELECT * FROM {_quoted(name)}{most}")

    def views(self, area: str | None = None) -> Result:
        """Names of all tables and views, or of those of an area, with what they are."""
        where = "" if area is None else "WHERE area = $area "
        params = {} if area is None else {"area": area}
        return self.sql(
            "SELECT name, kind, area, summary FROM tracesql_views "
            f"{where}ORDER BY kind, area, name",
            params,
        )

    def findings(self, *, severity: str = "info", rule: str | None = None) -> Result:
        """What the rules found: findings of a severity and worse, worst first.

        ``severity`` is ``high``, ``medium``, ``low`` or ``info``, ``rule`` the name of one rule.
        Rules that found nothing or cannot be measured are rows of the view ``findings``.

        >>> for finding in session.findings(severity="medium"):
        ...     print(finding.message, finding.advice)
        """
        order = ["high", "medium", "low", "info"]
        if severity not in order:
            raise _native.UsageError(f'severity "{severity}" is unknown; use {", ".join(order)}')
        return self.sql(
            "SELECT rule, severity, trace_id, rank, device, step, subject, message, advice, "
            "evidence, value, unit, threshold FROM findings "
            "WHERE status = 'finding' AND severity IN $wanted AND rule = coalesce($rule, rule) "
            "ORDER BY array_position($order, severity), trace_id, rule, device, step, subject",
            {
                "wanted": order[: order.index(severity) + 1],
                "order": order,
                "rule": rule if rule is None else rule.removeprefix("rule_"),
            },
        )

    def docs(self, name: str | None = None, *, format: str = "text") -> Text:
        """The reference: an overview, or all about a table, view, function, setting or area.

        ``format`` is ``text``, ``markdown`` or ``json``. Notebooks show Markdown.
        """
        text = Text(self._engine.docs(name, format))
        if format == "text" and name is not None:
            text.markdown = self._engine.docs(name, "markdown")
        elif format == "markdown":
            text.markdown = str(text)
        return text

    def traces(self) -> Result:
        """The traces that are open: name, rank, file, events, duration."""
        return self.sql(
            "SELECT trace_id, rank, path, format, event_count, skipped_count, duration_ns "
            "FROM traces ORDER BY rank, path"
        )

    @property
    def trace_ids(self) -> list[str]:
        """Names of the traces that are open."""
        return self._engine.trace_ids

    @property
    def _result(self) -> Result:
        self._engine  # A closed session has no result.
        result: Result | None = getattr(self._last, "result", None)
        if result is None:
            raise _native.UsageError("there is no result yet; call session.execute(…) first")
        return result

    @property
    def description(self) -> list[tuple[str, str, None, None, None, None, None]]:
        """Columns of the last :meth:`execute`; see :attr:`Result.description`."""
        return self._result.description

    def fetchone(self) -> Row | None:
        """The next row of the last :meth:`execute`."""
        return self._result.fetchone()

    def fetchmany(self, size: int = 1) -> list[Row]:
        """The next rows of the last :meth:`execute`."""
        return self._result.fetchmany(size)

    def fetchall(self) -> list[Row]:
        """The other rows of the last :meth:`execute`."""
        return self._result.fetchall()

    def fetchnumpy(self) -> dict[str, numpy.ndarray[Any, Any]]:
        """The last :meth:`execute` as numpy arrays; see :meth:`Result.fetchnumpy`."""
        return self._result.fetchnumpy()

    def df(self) -> pandas.DataFrame:
        """The last :meth:`execute` as a pandas DataFrame; see :meth:`Result.pandas`."""
        return self._result.pandas()

    fetchdf = df

    def pl(self) -> polars.DataFrame:
        """The last :meth:`execute` as a polars DataFrame."""
        return self._result.polars()

    def arrow(self) -> pyarrow.Table:
        """The last :meth:`execute` as a pyarrow Table."""
        return self._result.arrow()

    def __repr__(self) -> str:
        return _describe.line(self)

    def _repr_html_(self) -> str:
        return _describe.html(self)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
