"""Opening and reading traces."""

from __future__ import annotations

import os
import warnings
from typing import Iterable, Mapping, Sequence, Union

from . import _native
from ._session import Session
from ._warnings import TraceWarning

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
) -> Session:
    """Opens a store, or one or more traces.

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

    >>> session = tracesql.open("fixtures/synthetic_gpu_rank0.json.gz")
    >>> session.sql("SELECT count(*) FROM kernels").scalar()
    359
    """
    values = [(name, _setting(value)) for name, value in (settings or {}).items()]
    session, notes = _native.open(
        _names(path), threads or 0, _size(memory_limit), _names(sql), _names(rules), values, strict
    )
    _warn(notes)
    return Session(session)


def ingest(
    inputs: Path | Iterable[Path],
    store: Path,
    *,
    strict: bool = False,
    replace: bool = False,
    threads: int | None = None,
    memory_limit: int | str | None = None,
) -> list[str]:
    """Reads traces into a store and returns the names that they have there.

    The store is made if it does not exist.

    A trace appears in the store as a whole or not at all. Bytes that the store holds already are
    not read again, unless with ``replace``. With ``strict``, traces that are not clean are
    refused.

    >>> tracesql.ingest("fixtures/perf.json", "store")
    ['perf-…']
    """
    names, notes = _native.ingest(
        _names(inputs), os.fspath(store), threads or 0, _size(memory_limit), strict, replace
    )
    _warn(notes)
    return names


def _names(paths: Path | Iterable[Path]) -> list[str]:
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    names = [os.path.expanduser(os.fspath(path)) for path in paths]
    if "-" in names:
        raise _native.UsageError("standard input belongs to Python; name a file")
    return names


def _size(limit: int | str | None) -> str | None:
    return None if limit is None else str(limit)


def _setting(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _warn(notes: Sequence[str]) -> None:
    for note in notes:
        warnings.warn(note, TraceWarning, stacklevel=3)
