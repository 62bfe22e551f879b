"""Progress while traces are read: a line on a terminal, or in a notebook."""

from __future__ import annotations

import os
import sys
import time
from html import escape
from typing import Any

#: How long reading takes before it is shown, and how often the line changes, in seconds.
DELAY_S = 0.5
EVERY_S = 0.1

#: Shares of reading, of sorting and nesting, and of writing, in proportion to their time.
_SHARES = (0.26, 0.14, 0.60)


def shown(progress: bool | None) -> Progress | None:
    """Where progress goes: None if nothing is shown."""
    if progress is False:
        return None
    notebook = _notebook()
    if notebook is not None:
        return _InNotebook(notebook)
    if progress or sys.stderr is not None and sys.stderr.isatty():
        return _OnTerminal()
    return None


class Progress:
    """Called about 20 times a second with the counts of the input that is being read."""

    def __init__(self) -> None:
        self._start = self._last = time.monotonic()
        self._name, self._size = "", 0
        self._line = ""

    def __call__(self, name: str, bytes: int, elements: int, nested: int, rows: int) -> None:
        now = time.monotonic()
        if name != self._name:
            self._name, self._size = name, _text_bytes(name)
            self._begun = now
        if now - self._start < DELAY_S or now - self._last < EVERY_S:
            return
        self._last = now
        parts = [(bytes, self._size), (nested, elements), (rows, elements)]
        share = sum(s * min(done / max(whole, 1), 1.0) for s, (done, whole) in zip(_SHARES, parts))
        rate = elements / max(now - self._begun, 0.001) / 1e6
        percent = f"{share:4.0%}, " if self._size else ""
        file = "".join(c for c in os.path.basename(name) if c.isprintable())
        self._line = f"{file}: {percent}{elements:,} events, {rate:.1f} M events/s"
        self.show(self._line)

    def show(self, line: str) -> None:
        """Shows a line in place of the one before."""

    def end(self) -> None:
        """Takes the line away."""


class _OnTerminal(Progress):
    def show(self, line: str) -> None:
        try:
            width = os.get_terminal_size(sys.stderr.fileno()).columns - 1
        except (OSError, ValueError):
            width = 100
        sys.stderr.write(f"\r\x1b[K{line[:width]}")
        sys.stderr.flush()

    def end(self) -> None:
        if self._line:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


class _InNotebook(Progress):
    """A line that is replaced, and says at the end how long it took."""

    def __init__(self, display: Any) -> None:
        super().__init__()
        self._display, self._handle = display, None

    def show(self, line: str) -> None:
        data = {"text/plain": line, "text/html": f"<small>{escape(line)}</small>"}
        # Programs that compare the outputs of a notebook know by this that it differs.
        extra = {"raw": True, "metadata": {"tracesql": "progress"}}
        if self._handle is None:
            self._handle = self._display(data, display_id=True, **extra)
        else:
            self._handle.update(data, **extra)

    def end(self) -> None:
        if self._handle is not None:
            self.show(f"Reading took {time.monotonic() - self._start:.1f} s.")


def _notebook() -> Any:
    """IPython's ``display`` in a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None or not hasattr(shell, "kernel"):
        return None
    from IPython.display import display

    return display


def _text_bytes(name: str) -> int:
    """The size of an input's text, or 0 if it is not known before it is read.

    gzip has it at the end, modulo 4 GiB.
    """
    try:
        with open(name, "rb") as file:
            start, size = file.read(4), os.fstat(file.fileno()).st_size
            if start[:2] == b"\x1f\x8b":
                file.seek(-4, os.SEEK_END)
                text = int.from_bytes(file.read(4), "little")
                return text if text > size else 0
            return 0 if start[:4] == b"\x28\xb5\x2f\xfd" else size
    except OSError:
        return 0
