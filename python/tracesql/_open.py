"""Opening and reading traces."""

from __future__ import annotations

import os
from typing import Any, Iterable, Mapping, Union

from . import _native, _progress
from ._calls import warn
from ._checks import Comparison
from ._session import Session

Path = Union[str, "os.PathLike[str]"]


def open(
    path: Path | Iterable[Path],
    *,
    threads: int | None = None,
    memory_limit: int | str | None = None,
    sql: Path | Iterable[Path] = (),
    rules: Path | Iterable[Path] = (),
    settings: Mapping[str, object] | None = None,
    strict: bool = False,
    progress: bool | None = None,
    replacement_scan: bool = True,
) -> Session:
    """Opens a store, or one or more traces. The session can be used in a ``with`` statement.

    Traces are read into the cache of the command line, keyed by their content; a trace that it
    holds opens at once. What is odd about them is a :class:`TraceWarning`, and in the table
    ``ingest_issues``.

    :param path: a store, or traces: files, folders, globs; ``.json``, ``.gz``, ``.zst``, ``.zip``,
        ``.tar``.
    :param threads: threads for reading and for queries; all cores if it is not given.
    :param memory_limit: bytes, or a text such as ``"2GiB"``: half of the machine's for reading, no
        limit for queries, unless it is given.
    :param sql: folders with views of your own, laid out as ``AREA/NAME.sql``.
    :param rules: folders with rules of your own, as ``rule_NAME.sql``.
    :param settings: settings that views read, for example thresholds; ``session.docs()`` lists
        them.
    :param strict: refuse traces that are not clean.
    :param progress: shows progress when reading takes longer than half a second: on a terminal and
        in notebooks unless it is False, and on standard error in any case if it is True.
    :param replacement_scan: whether queries may name data frames of the caller's variables.

    >>> session = tracesql.open("fixtures/synthetic_gpu_rank0.json.gz")
    >>> session.sql("SELECT count(*) FROM kernels").scalar()
    359
    """
    values = [(name, _setting(value)) for name, value in (settings or {}).items()]
    names = _names(path, "open")
    folders = _names(sql, "sql="), _names(rules, "rules=")
    shown = _progress.shown(progress)
    try:
        session, notes = _native.open(
            names, threads or 0, _size(memory_limit), *folders, values, strict, shown
        )
    finally:
        if shown is not None:
            shown.end()
    warn(notes)
    return Session(session, inputs=names, scan=replacement_scan)


def ingest(
    inputs: Path | Iterable[Path],
    store: Path,
    *,
    strict: bool = False,
    replace: bool = False,
    steps_from: str | None = None,
    threads: int | None = None,
    memory_limit: int | str | None = None,
    progress: bool | None = None,
) -> list[str]:
    """Reads traces into a store and returns the names that they have there.

    The store is made if it does not exist.

    A trace appears in the store as a whole or not at all. Bytes that the store holds already are
    not read again, unless with ``replace``. With ``strict``, traces that are not clean are
    refused. Ranges whose whole name matches the regular expression ``steps_from`` are steps, in
    place of ``ProfilerStep#N``.

    >>> tracesql.ingest("fixtures/perf.json", "store")
    ['perf-…']
    """
    paths, to = _names(inputs, "ingest"), os.path.expanduser(_path(store, "store="))
    shown = _progress.shown(progress)
    try:
        names, notes = _native.ingest(
            paths, to, threads or 0, _size(memory_limit), strict, replace, steps_from, shown
        )
    finally:
        if shown is not None:
            shown.end()
    warn(notes)
    return names


def compare(
    base: Session | Path | Iterable[Path],
    cand: Session | Path | Iterable[Path],
    *,
    by: str | Iterable[str] = (),
    fail_on: str | Iterable[str] = (),
) -> Comparison:
    """Compares two sessions, stores or traces. See :meth:`Session.compare`.

    >>> tracesql.compare("base.json.gz", "new.json.gz", fail_on="step:5%")
    """
    sides = [side if isinstance(side, Session) else open(side) for side in (base, cand)]
    return sides[0].compare(sides[1], by=by, fail_on=fail_on)


def _names(paths: Any, what: str) -> list[str]:
    """The names of one path or several."""
    if isinstance(paths, (str, bytes, os.PathLike)):
        paths = [paths]
    elif isinstance(paths, Mapping) or not hasattr(paths, "__iter__") or hasattr(paths, "read"):
        raise _wrong(paths, what)
    names = [os.path.expanduser(_path(path, what)) for path in paths]
    if "-" in names:
        raise _native.UsageError("standard input belongs to Python; name a file")
    if not names and what in ("open", "ingest"):
        raise _native.UsageError("no path is given; name a store or traces")
    return names


def _path(path: Any, what: str) -> str:
    if not isinstance(path, (str, os.PathLike)) or not isinstance(os.fspath(path), str):
        raise _wrong(path, what)
    return str(os.fspath(path))


def _wrong(value: Any, what: str) -> TypeError:
    kind = type(value).__name__
    if what == "open" and isinstance(value, Mapping):
        more = "; write trace events to a file with json.dump, and open that file"
    elif hasattr(value, "read"):
        more = "; give the path of the file"
    else:
        more = ""
    where = f"tracesql.{what}" if what in ("open", "ingest") else what
    many = "" if what == "store=" else ", or several of them"
    return TypeError(f"{where} takes a path (str or os.PathLike){many}, not {kind}{more}")


def _size(limit: int | str | None) -> str | None:
    return None if limit is None else str(limit)


def _setting(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
