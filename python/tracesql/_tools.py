"""What a session writes, checks and compares; the part of :class:`Session` that is not SQL."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any, Iterable, Union

from . import _native
from ._calls import warn
from ._checks import Comparison, Verdict, format_of
from ._shown import File, Page, Picture, Text
from ._ui import Ui

if TYPE_CHECKING:
    from ._session import Session

Path = Union[str, "os.PathLike[str]"]

_REPORTS = {
    ".html": "html",
    ".htm": "html",
    ".md": "markdown",
    ".markdown": "markdown",
    ".json": "json",
    ".txt": "text",
}

_EXPORTS = {
    ".json": "chrome",
    ".json.gz": "chrome",
    ".csv": "csv",
    ".tsv": "tsv",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".ipc": "arrow",
    ".folded": "folded",
    ".pb.gz": "pprof",
    ".pprof": "pprof",
}


class Tools:
    """Reports, profiles, exports, checks and comparisons of a session."""

    _inputs: list[str]

    @property
    def _engine(self) -> _native.Session:
        raise NotImplementedError

    def report(
        self,
        format: str | None = None,
        path: Path | None = None,
        *,
        trace: str | Iterable[str] = (),
    ) -> Text | Page | File:
        """A report about the traces.

        ``format`` is ``html`` (one page, which needs no network), ``text``, ``markdown`` or
        ``json``. With a path the report is written to that file, by default in the format that the
        name of the file says. Without a path it is returned.

        A notebook shows the page in a frame. A page without a file is about 1 MB, which the
        notebook then holds; a page in a file is shown from there.

        :param trace: only these traces: ids, beginnings of ids, or ends of paths.

        >>> session.report(path="report.html")
        """
        kind = format or "html" if path is None else format_of(path, format, _REPORTS)
        text, failures = self._engine.report(
            kind, self._output(path), shutil.get_terminal_size((100, 24)).columns, _list(trace)
        )
        warn([f"the report lacks a part: {failure}" for failure in failures])
        if path is not None:
            return File(os.fspath(path))
        return Page(text) if kind == "html" else Text(text)

    def pprof(
        self,
        path: Path,
        *,
        sql: str | None = None,
        where: str | None = None,
        step: int | None = None,
        rank: int | None = None,
        by_thread: bool = False,
        merge_steps: bool | None = None,
        full_names: bool = False,
        rule: str = "linked",
        base: Session | Path | None = None,
    ) -> File:
        """Writes stacks with host time, device time and memory as a profile for ``go tool pprof``.

        :param sql: takes samples from a query, as ``tracesql pprof -c`` does.
        :param where: a condition on the view ``stack_samples``, or on the rows of the query.
        :param step: only this step.
        :param rank: only this rank.
        :param by_thread: begin each stack with its thread.
        :param merge_steps: one frame for all steps, ``ProfilerStep*``, or one for each; merged by
            default, except for the rules ``inclusive`` and ``flat``.
        :param full_names: full names of kernels instead of short ones.
        :param rule: what is counted: ``linked``, ``self``, ``inclusive`` or ``flat``.
        :param base: another session, store or trace; the profile is the difference to it.
        """
        names = (by_thread, merge_steps, full_names, rule)
        self._profile("pprof", path, sql, where, step, rank, *names, base)
        return File(os.fspath(path))

    def folded(
        self,
        path: Path | None = None,
        *,
        measure: str | None = None,
        sql: str | None = None,
        where: str | None = None,
        step: int | None = None,
        rank: int | None = None,
        by_thread: bool = False,
        merge_steps: bool | None = None,
        full_names: bool = False,
        rule: str = "linked",
        base: Session | Path | None = None,
    ) -> Text | File:
        """Folded stacks, one line each; written to a file, or returned.

        ``measure`` is ``cpu``, ``gpu``, ``alloc_space``, ``alloc_objects``, ``samples`` or
        ``kernels``; the first one in nanoseconds if it is not given. For the other parameters see
        :meth:`pprof`.
        """
        names = (by_thread, merge_steps, full_names, rule)
        options = (sql, where, step, rank, *names, base, measure)
        data = self._profile("folded", path, *options)
        return Text(data.decode()) if data is not None else File(os.fspath(path or ""))

    def flamegraph(
        self,
        path: Path | None = None,
        *,
        measure: str | None = None,
        title: str | None = None,
        direction: str = "icicle",
        sql: str | None = None,
        where: str | None = None,
        step: int | None = None,
        rank: int | None = None,
        by_thread: bool = False,
        merge_steps: bool | None = None,
        full_names: bool = False,
        rule: str = "linked",
        base: Session | Path | None = None,
    ) -> Picture | File:
        """A flame graph as SVG; written to a file, or returned. A notebook shows it.

        With ``base``, colours show how much each frame grew or shrank. ``direction`` is ``icicle``
        (the root at the top) or ``flame``. For the other parameters see :meth:`folded`.

        >>> session.flamegraph(measure="gpu", step=11)
        """
        names = (by_thread, merge_steps, full_names, rule)
        options = (sql, where, step, rank, *names, base, measure, title, direction)
        data = self._profile("flamegraph", path, *options)
        return Picture(data.decode()) if data is not None else File(os.fspath(path or ""))

    def speedscope(
        self,
        path: Path,
        *,
        sql: str | None = None,
        where: str | None = None,
        step: int | None = None,
        rank: int | None = None,
        by_thread: bool = False,
        merge_steps: bool | None = None,
        full_names: bool = False,
        rule: str = "linked",
    ) -> File:
        """Writes stacks for speedscope. For the parameters see :meth:`pprof`."""
        names = (by_thread, merge_steps, full_names, rule)
        self._profile("speedscope", path, sql, where, step, rank, *names)
        return File(os.fspath(path))

    def _profile(
        self,
        format: str,
        path: Path | None,
        sql: str | None,
        where: str | None,
        step: int | None,
        rank: int | None,
        by_thread: bool = False,
        merge_steps: bool | None = None,
        full_names: bool = False,
        rule: str = "linked",
        base: Session | Path | None = None,
        measure: str | None = None,
        title: str | None = None,
        direction: str = "icicle",
    ) -> bytes | None:
        other = None if base is None else session(base)._engine
        names = (by_thread, merge_steps, full_names, rule)
        options = (sql, where, step, rank, *names, other, measure, title, direction)
        data, notes = _native.profile(self._engine, format, self._output(path), *options)
        warn(notes)
        return data

    def export(
        self,
        path: Path,
        *,
        format: str | None = None,
        trace: str | Iterable[str] = (),
        rank: int | None = None,
        step: int | tuple[int, int] | None = None,
        where: str | None = None,
        views: str | Iterable[str] = (),
        sql: str | None = None,
        findings: bool = False,
        counters: bool = False,
        critical_path: bool = False,
    ) -> dict[str, int]:
        """Writes traces, views or the rows of a query for other tools.

        The result has the files with their numbers of rows or elements.

        :param path: a file, or a folder for several tables.
        :param format: ``chrome`` (for Perfetto), ``perf-json``, ``csv``, ``tsv``, ``ndjson``,
            ``parquet``, ``arrow``, ``folded`` or ``pprof``; by default what the name of the file
            says.
        :param trace: only these traces: ids, beginnings of ids, or ends of paths.
        :param rank: only traces of this rank.
        :param step: only this step, or the steps from the first to the last of two.
        :param where: a condition on the rows of events, or of what is exported.
        :param views: tables and views to export; all tables if none is given.
        :param sql: a query to export; for ``chrome`` one whose ``trace_id`` and ``event_id`` name
            the events.
        :param findings: ``chrome``: adds findings as instant events.
        :param counters: ``chrome``: adds device utilization and memory as counters.
        :param critical_path: ``chrome``: adds the critical path of the trace and of each step as
            tracks.

        >>> session.export("step3.json.gz", step=3)
        >>> session.export("folder", format="parquet", views=["kernels", "operators"])
        """
        kind = format_of(path, format, _EXPORTS)
        steps = (step, step) if isinstance(step, int) else step
        named = _list(views)
        if (findings or counters or critical_path) and kind != "chrome":
            raise _native.UsageError(
                "findings, counters and critical_path are for format='chrome'; as tables they are "
                "the views findings, memory_curve and critical_path"
            )
        if named and kind in ("chrome", "perf-json", "folded", "pprof"):
            raise _native.UsageError(f"views cannot be written as {kind}; use parquet or csv")
        if kind in ("folded", "pprof"):
            if _list(trace):
                raise _native.UsageError(f"trace= is not for {kind}; use where=\"trace_id = '…'\"")
            if steps is not None and steps[0] != steps[1]:
                where = " AND ".join(
                    [f"step BETWEEN {steps[0]} AND {steps[1]}", *([f"({where})"] if where else [])]
                )
                steps = None
            only = steps[0] if steps else None
            self._profile(kind, path, sql, where, only, rank)
            return {os.fspath(path): os.path.getsize(path)}
        written, notes = _native.export(
            self._engine,
            kind,
            self._output(path) or "",
            _list(trace),
            rank,
            steps,
            where,
            named,
            sql,
            findings,
            counters,
            critical_path,
        )
        warn(notes)
        return dict(written)

    def check(
        self,
        *,
        rules: str | Iterable[str] = (),
        skip: str | Iterable[str] = (),
        require: str | Iterable[str] = (),
        severity: str = "medium",
        assertions: Path | Iterable[Path] = (),
        baseline: Session | Path | None = None,
        thresholds: Path | None = None,
        save_baseline: Path | None = None,
        max_rows: int = 10,
    ) -> Verdict:
        """Runs rules and assertions, and compares metrics with a baseline, as ``tracesql check``.

        The verdict is true if everything passed, so that a test can assert it.

        :param rules: only these rules; ``session.docs("rules")`` lists all.
        :param skip: leave these rules out, or with ``"all"`` every rule.
        :param require: rules that fail if they cannot be measured; ``"all"`` for every rule.
        :param severity: findings of this severity and worse fail: ``high``, ``medium``, ``low``
            or ``info``.
        :param assertions: files with queries that must return no rows.
        :param baseline: a session, a store, a trace, or a file that ``save_baseline`` wrote.
        :param thresholds: a CSV file that says how far metrics may be from the baseline.
        :param save_baseline: a file to write the metrics to.
        :param max_rows: rows of a failed assertion that are kept.

        >>> verdict = session.check(severity="high")
        >>> verdict.passed, verdict.counts, verdict.failed
        """
        if isinstance(baseline, (str, os.PathLike)) and _is_baseline(baseline):
            base: _native.Session | str | None = os.fspath(baseline)
        else:
            base = None if baseline is None else session(baseline)._engine
        verdict = _native.check(
            self._engine,
            _list(rules),
            _list(skip),
            _list(require),
            severity,
            _list(assertions),
            base,
            None if thresholds is None else os.fspath(thresholds),
            self._output(save_baseline),
            max_rows,
        )
        return Verdict(verdict)

    def compare(
        self,
        other: Session | Path,
        *,
        by: str | Iterable[str] = (),
        fail_on: str | Iterable[str] = (),
    ) -> Comparison:
        """Compares another session, store or trace with this one, which is the base.

        :param by: what rows are about: ``step``, ``category``, ``op``, ``family``, ``kernel``,
            ``kernel_type``, ``class``, ``module``; all of them if none is given.
        :param fail_on: conditions that make the comparison false: ``"step:5%"``,
            ``"op:20%:100us"``, ``"kernel:added"``.

        >>> comparison = base.compare("new.json.gz", by="op", fail_on="step:5%")
        >>> comparison.html(), comparison.rows[0], bool(comparison)
        """
        cand = session(other)._engine
        return Comparison(_native.compare(self._engine, cand, _list(by), _list(fail_on)))

    def ui(self, *, port: int | None = None, open: bool = True, embed: str | None = None) -> Ui:
        """Shows the traces in the browser: timeline, SQL, stacks, report, as ``tracesql ui``.

        The pages are read-only, come from 127.0.0.1, and send nothing elsewhere. They show the
        traces of the session, without the frames that it was given.

        :param port: the port of 127.0.0.1; by default the first free one from 7117.
        :param open: open the browser.
        :param embed: the origin of a page that may show the pages in a frame, such as that of a
            notebook, ``"http://localhost:8888"``. Then a cell shows the timeline. The browser must
            run on the machine of the session.

        >>> pages = session.ui(open=False)
        >>> pages.url, pages.page("timeline")
        >>> pages.close()
        """
        pages = Ui(_native.ui(self._engine, port, embed), is_embedded=embed is not None)
        return pages.open() if open else pages

    def _output(self, path: Path | None) -> str | None:
        """The path of a file to write. It must not be a trace that the session was opened with."""
        if path is None:
            return None
        place = os.fspath(path)
        for name in self._inputs:
            if os.path.isfile(name) and os.path.exists(place) and os.path.samefile(name, place):
                raise _native.UsageError(
                    f"{place} would be written over {name}, which is open; name another file"
                )
        return place


def session(other: Session | Path) -> Session:
    """A session, or the session over the traces that a path names."""
    from ._open import open as open_traces
    from ._session import Session

    return other if isinstance(other, Session) else open_traces(other)


def _list(values: Any) -> list[str]:
    if isinstance(values, (str, os.PathLike)):
        values = [values]
    return [os.fspath(value) for value in values]


def _is_baseline(path: Path) -> bool:
    """Whether a file holds metrics that a check wrote."""
    try:
        with open(path, "rb") as file:
            return b'"tracesql-baseline"' in file.read(1 << 20)
    except OSError:
        return False
