"""Outcomes of checks and comparisons."""

from __future__ import annotations

import json
import os
import shutil
from typing import Any

from . import _native
from ._shown import File, Page, Text

_CHECK_FORMATS = {".json": "json", ".xml": "junit", ".txt": "text"}
_COMPARE_FORMATS = {
    ".md": "markdown",
    ".json": "json",
    ".html": "html",
    ".htm": "html",
    ".txt": "text",
}


class Verdict:
    """The outcome of :meth:`Session.check`. It is true if the checks passed.

    >>> assert session.check(baseline="baseline.json")
    """

    def __init__(self, native: _native.Verdict):
        self._native = native

    def __bool__(self) -> bool:
        return self.passed

    @property
    def passed(self) -> bool:
        """Whether all checks could be made, and none failed."""
        return self.status == "passed"

    @property
    def status(self) -> str:
        """passed, failed, or error if a check could not be made."""
        return self._native.word

    @property
    def counts(self) -> dict[str, int]:
        """The number of checks that are passed, noted, not_measurable, failed and error."""
        return dict(self._native.counts)

    @property
    def checks(self) -> list[dict[str, Any]]:
        """Each result with its name, status, message and figures.

        A rule may have several results for a trace; together they are one check.
        """
        checks: list[dict[str, Any]] = self.dict()["checks"]
        return checks

    @property
    def failed(self) -> list[dict[str, Any]]:
        """The results that failed or could not be made."""
        return [check for check in self.checks if check["status"] in ("failed", "error")]

    def dict(self) -> dict[str, Any]:
        """Everything as one dict, as ``tracesql check --format json`` writes it."""
        found: dict[str, Any] = json.loads(self._native.write("json", 100))
        return found

    def write(self, path: str | os.PathLike[str], *, format: str | None = None) -> File:
        """Writes the outcome as ``text``, ``json``, ``junit`` or ``github``.

        By default the name of the file decides: ``.txt``, ``.json`` or ``.xml``.
        """
        kind = format_of(path, format, _CHECK_FORMATS)
        return _written(path, self._native.write(kind, 100))

    def __str__(self) -> str:
        return self._native.write("text", _width())

    __repr__ = __str__


class Comparison:
    """The outcome of :meth:`Session.compare`. It is true if no condition of ``fail_on`` is met."""

    def __init__(self, native: _native.Comparison):
        self._native = native

    def __bool__(self) -> bool:
        return not self._native.failures

    @property
    def failures(self) -> list[tuple[str, str]]:
        """The conditions of ``fail_on`` that are met, each with the row that meets it."""
        return self._native.failures

    @property
    def notes(self) -> list[str]:
        """What to know about the two sides."""
        return self._native.notes

    @property
    def rows(self) -> list[dict[str, Any]]:
        """All rows, largest difference first; times in nanoseconds."""
        rows: list[dict[str, Any]] = self.dict()["rows"]
        return rows

    def dict(self) -> dict[str, Any]:
        """Everything as one dict, as ``tracesql compare --format json`` writes it."""
        found: dict[str, Any] = json.loads(self._native.write("json", 100, 0))
        return found

    def text(self, *, limit: int = 10) -> Text:
        """Tables for people with at most ``limit`` rows each; 0 for all."""
        return Text(self._native.write("text", _width(), limit))

    def markdown(self, *, limit: int = 10) -> Text:
        """The tables in Markdown."""
        text = Text(self._native.write("markdown", 100, limit))
        text.markdown = str(text)
        return text

    def html(self) -> Page:
        """A page with tables that can be sorted and searched."""
        page = Page(self._native.write("html", 100, 0))
        page.what = "comparison"
        return page

    def write(
        self, path: str | os.PathLike[str], *, format: str | None = None, limit: int = 10
    ) -> File:
        """Writes the comparison as ``text``, ``markdown``, ``json`` or ``html``.

        By default the name of the file decides: ``.txt``, ``.md``, ``.json`` or ``.html``.
        """
        kind = format_of(path, format, _COMPARE_FORMATS)
        return _written(path, self._native.write(kind, 100, limit))

    def __str__(self) -> str:
        return str(self.text())

    __repr__ = __str__

    def _repr_markdown_(self) -> str:
        return self._native.write("markdown", 100, 10)


def format_of(path: str | os.PathLike[str], format: str | None, known: dict[str, str]) -> str:
    """The format that was named, or the one that the name of a file says."""
    if format is not None:
        return format
    name = os.fspath(path).lower()
    for ending, kind in known.items():
        if name.endswith(ending):
            return kind
    raise _native.UsageError(
        f"{os.fspath(path)}: the name says no format; end it with {', '.join(known)}, "
        "or give format="
    )


def _written(path: str | os.PathLike[str], text: str) -> File:
    _native.save(os.fspath(path), text)
    return File(os.fspath(path))


def _width() -> int:
    return min(max(shutil.get_terminal_size((100, 24)).columns, 80), 160)
