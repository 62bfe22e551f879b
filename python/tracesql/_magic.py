"""Magics for notebooks: ``%tracesql PATH…`` opens, ``%%tracesql`` runs the cell as SQL."""

from __future__ import annotations

import re
import shlex
from typing import Any

from ._native import Error, UsageError
from ._open import open as open_traces
from ._session import Session

_PARAMETER = re.compile(r"\$([A-Za-z_]\w*)")


def register(ipython: Any) -> None:
    """Adds the magics to a shell."""
    current: dict[str, Session] = {}

    def tracesql(line: str, cell: str | None = None) -> Any:
        try:
            return run(line, cell)
        except Error as error:
            # IPython asks for this instead of a traceback, whose frames are all of this package.
            lines = [f"{type(error).__name__}: {error}"]
            error._render_traceback_ = lambda *_: lines  # type: ignore[attr-defined]
            raise

    def run(line: str, cell: str | None) -> Any:
        """``%tracesql PATH…`` opens traces, or takes the session of a variable; gives the session.

        ``%%tracesql [NAME]`` runs the cell as SQL; with a name, the result goes into that
        variable. ``$name`` in the SQL is the Python variable of that name, and so is a table that
        does not exist, if the variable is a data frame.
        """
        names = ipython.user_ns
        if cell is None:
            words = shlex.split(line)
            if len(words) == 1 and isinstance(names.get(words[0]), Session):
                current["session"] = names[words[0]]
            elif words:
                current["session"] = open_traces(words)
        if "session" not in current:
            raise UsageError("no traces are open; write %tracesql trace.json.gz first")
        if cell is None:
            return current["session"]
        params = {name: names[name] for name in _PARAMETER.findall(cell) if name in names}
        result = current["session"]._sql_in(names, cell, params)
        target = line.strip()
        if not target:
            return result
        if not target.isidentifier():
            raise UsageError(
                f"{target!r} is not a name for a variable; %%tracesql takes one, for the result"
            )
        names[target] = result
        return None

    tracesql.__doc__ = run.__doc__
    ipython.register_magic_function(tracesql, magic_kind="line_cell", magic_name="tracesql")
