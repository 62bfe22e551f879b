"""A session: traces that are open, and SQL over them."""

from __future__ import annotations

import os
import shutil
import warnings
from html import escape
from typing import Any

from . import _native
from ._result import Result, Stream
from ._warnings import TraceWarning


class Text(str):
    """A text that shows itself as it is, also without ``print``."""

    markdown: str | None = None

    def __repr__(self) -> str:
        return str(self)

    def _repr_markdown_(self) -> str | None:
        return self.markdown


class Page(str):
    """An HTML page: its text, which a notebook shows in a frame."""

    def __repr__(self) -> str:
        return f"<tracesql report: {len(self):,} characters of HTML>"

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{escape(self)}" sandbox="allow-scripts allow-downloads" '
            'style="width: 100%; height: 80vh; border: 0"></iframe>'
        )


_FORMATS = {".html": "html", ".htm": "html", ".md": "markdown", ".json": "json", ".txt": "text"}


class Session:
    """Traces that are open. Made by :func:`tracesql.open`.

    Several threads may use a session; their queries run at the same time. It holds no lock on the
    files, and needs not be closed.
    """

    def __init__(self, native: _native.Session):
        self._native = native

    def sql(self, query: str, /, **params: Any) -> Result:
        """Runs SQL; the result of the last statement.

        ``$name`` in the SQL stands for the value of that name. Other Python threads run meanwhile,
        and Ctrl-C stops the query. The rows are held in memory; use :meth:`stream` for more of
        them than fit.

        >>> session.sql("SELECT name, dur_ns FROM events WHERE step = $step LIMIT 3", step=10)
        """
        return Result(self._native.sql(query, params))

    def stream(self, query: str, /, **params: Any) -> Stream:
        """Runs SQL whose rows are made while they are read.

        The stream is read once, by anything that takes Arrow streams.

        >>> import pyarrow as pa
        >>> for batch in pa.RecordBatchReader.from_stream(session.stream("SELECT * FROM events")):
        ...     print(batch.num_rows)
        """
        return Stream(self._native.stream(query, params))

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
            **params,
        )

    def docs(self, name: str | None = None, *, format: str = "text") -> Text:
        """The reference: an overview, or all about a table, view, function, setting or area.

        ``format`` is ``text``, ``markdown`` or ``json``. Notebooks show Markdown.
        """
        text = Text(self._native.docs(name, format))
        if format == "text" and name is not None:
            text.markdown = self._native.docs(name, "markdown")
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
        return self._native.trace_ids

    def report(
        self, format: str | None = None, path: str | os.PathLike[str] | None = None
    ) -> str | None:
        """A report about the traces.

        ``format`` is ``html`` (one page, which needs no network), ``text``, ``markdown`` or
        ``json``. With a path the report is written to that file, by default in the format of the
        file's name; without a path it is returned. A notebook shows the page in a frame.

        >>> session.report(path="report.html")
        """
        file = None if path is None else os.fspath(path)
        kind = format or (
            _FORMATS.get(os.path.splitext(file)[1].lower(), "html") if file else "html"
        )
        text, failures = self._native.report(
            kind, file, shutil.get_terminal_size((100, 24)).columns
        )
        for failure in failures:
            warnings.warn(f"the report lacks a part: {failure}", TraceWarning, stacklevel=2)
        if text is None:
            return None
        return Page(text) if kind == "html" else Text(text)

    def pprof(
        self,
        path: str | os.PathLike[str],
        *,
        sql: str | None = None,
        where: str | None = None,
        step: int | None = None,
        rank: int | None = None,
        by_thread: bool = False,
    ) -> None:
        """Writes stacks with host time, device time and memory as a profile for ``go tool pprof``.

        ``where`` is a condition on the view ``stack_samples``; ``sql`` takes samples from a query
        of yours, as ``tracesql pprof -c`` does.
        """
        for note in self._native.pprof(os.fspath(path), sql, where, step, rank, by_thread):
            warnings.warn(note, TraceWarning, stacklevel=2)

    def __repr__(self) -> str:
        names = self.trace_ids
        shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        return f"<tracesql.Session: {shown or 'no traces'}>"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
