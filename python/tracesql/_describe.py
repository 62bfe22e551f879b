"""What a session shows of itself: its traces with their sizes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from . import _display
from ._native import Error

if TYPE_CHECKING:
    from ._session import Session

#: Traces that a notebook shows.
SHOWN_TRACES = 20


def line(session: Session) -> str:
    """Traces, ranks, events, kernels, steps, devices and duration in one line."""
    if session.closed:
        return "<tracesql.Session: closed>"
    traces = _traces(session)
    if not traces:
        return "<tracesql.Session: no traces>"
    what = traces[0]["trace_id"] if len(traces) == 1 else f"{len(traces)} traces"
    parts = [what, *_parts(traces)]
    return f"<tracesql.Session: {', '.join(parts)}>"


def html(session: Session) -> str:
    """A table of the traces."""
    if session.closed:
        return "<small>a closed tracesql session</small>"
    traces = _traces(session)
    columns = [
        ("trace_id", "VARCHAR"),
        ("rank", "BIGINT"),
        ("events", "BIGINT"),
        ("kernels", "BIGINT"),
        ("steps", "BIGINT"),
        ("devices listed", "BIGINT"),
        ("duration", "DOUBLE"),
        ("path", "VARCHAR"),
    ]
    rows = [
        tuple(
            f"{value:,}" if isinstance(value, int) else value
            for value in (
                t["trace_id"],
                t["rank"],
                *(t[name] for name in ("events", "kernels", "steps", "devices")),
                _time(t["duration_ns"]),
                os.path.basename(t["path"]),
            )
        )
        for t in traces
    ]
    footer = "1 trace" if len(rows) == 1 else f"{len(rows)} traces"
    if len(rows) > SHOWN_TRACES:
        footer = f"the first {SHOWN_TRACES} of {footer}"
    return _display.html(columns, rows[:SHOWN_TRACES], footer)


def _parts(traces: list[dict[str, Any]]) -> list[str]:
    parts = []
    ranks = sorted({t["rank"] for t in traces if t["rank"] is not None})
    if len(ranks) == 1:
        parts.append(f"rank {ranks[0]}")
    elif ranks:
        whole = ranks == list(range(ranks[0], ranks[-1] + 1))
        shown = f"{ranks[0]}–{ranks[-1]}" if whole else ", ".join(map(str, ranks[:5]))
        parts.append(f"ranks {shown}" + (", …" if not whole and len(ranks) > 5 else ""))
    each = " each" if len(traces) > 1 else ""
    for name in ("events", "kernels"):
        if number := sum(t[name] for t in traces):
            parts.append(_count(number, name))
    # Traces list the devices of their host, also those that they do not use.
    for name, more in (("steps", each), ("devices", f" listed{each}")):
        counts = [t[name] for t in traces]
        few, many = min(counts), max(counts)
        if many:
            parts.append((_count(few, name) if few == many else f"{few}–{many} {name}") + more)
    longest = max((t["duration_ns"] or 0 for t in traces), default=0)
    if longest:
        parts.append(("up to " if each else "") + str(_time(longest)))
    return parts


def _traces(session: Session) -> list[dict[str, Any]]:
    """The counts of the manifests, and what the table ``traces`` says."""
    counts = {trace: dict(tables) for trace, tables in session._engine.row_counts()}
    try:
        facts = {row["trace_id"]: dict(row) for row in session.traces()}
    except Error:
        # A store that was damaged after it was opened still has a name.
        facts = {}
    return [
        {"rank": None, "duration_ns": None, "path": "", **facts.get(trace, {}), "trace_id": trace}
        | {name: tables.get(name, 0) for name in ("events", "kernels", "steps", "devices")}
        for trace, tables in sorted(
            counts.items(), key=lambda item: (facts.get(item[0], {}).get("rank") or 0, item[0])
        )
    ]


def _count(number: int, plural: str) -> str:
    return f"{number:,} {plural[:-1] if number == 1 else plural}"


def _time(ns: int | None) -> str | None:
    if ns is None:
        return None
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if ns >= size:
            return f"{ns / size:.3f} {unit}"
    return f"{ns} ns"
