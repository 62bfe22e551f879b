"""Results as HTML, for notebooks."""

from __future__ import annotations

import unicodedata
from html import escape
from typing import Any, Iterable

#: Rows, columns and characters of a value that are shown.
SHOWN_ROWS = 50
SHOWN_COLUMNS = 40
SHOWN_CHARACTERS = 200

_NUMBERS = (
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
    "UBIGINT",
    "REAL",
    "DOUBLE",
    "DECIMAL",
)


def html(columns: list[tuple[str, str]], rows: Iterable[tuple[Any, ...]], footer: str) -> str:
    """A table of the first rows and columns; long values are cut."""
    shown = columns[:SHOWN_COLUMNS]
    if len(columns) > len(shown):
        footer += f"; the first {len(shown)} of {len(columns)} columns"
    right = [kind.startswith(_NUMBERS) and not kind.endswith("[]") for _, kind in shown]
    head = "".join(
        f'<th title="{escape(kind)}" style="{_style(r)}">{text(name)}</th>'
        for (name, kind), r in zip(shown, right)
    )
    body = "".join(
        "<tr>"
        + "".join(f'<td style="{_style(r)}">{text(value)}</td>' for value, r in zip(row, right))
        + "</tr>"
        for row in rows
    )
    return (
        '<div style="overflow-x: auto"><table class="tracesql"><thead><tr>'
        f"{head}</tr></thead><tbody>{body}</tbody></table><small>{escape(footer)}</small></div>"
    )


def text(value: Any) -> str:
    """A value as HTML, with markup and control characters made visible: names are not ours."""
    if value is None:
        return '<span style="opacity: 0.5">NULL</span>'
    shown = str(value)
    if len(shown) > SHOWN_CHARACTERS:
        shown = shown[: SHOWN_CHARACTERS - 1] + "…"
    shown = "".join(
        c if unicodedata.category(c) not in ("Cc", "Cf") else ascii(c)[1:-1] for c in shown
    )
    return escape(shown)


def _style(right: bool) -> str:
    return "text-align: right; font-variant-numeric: tabular-nums" if right else "text-align: left"
