"""The user's call: the frame that it is in, and warnings about it."""

from __future__ import annotations

import sys
import warnings
from types import FrameType
from typing import Sequence

from ._warnings import TraceWarning


def caller() -> tuple[FrameType | None, int]:
    """The first frame outside of this package, and its distance for :func:`warnings.warn`."""
    frame, level = sys._getframe(1), 1
    while frame is not None and frame.f_globals.get("__package__") == __package__:
        frame, level = frame.f_back, level + 1  # type: ignore[assignment]
    return frame, level


def warn(notes: Sequence[str]) -> None:
    """Warns once, whatever the number of notes."""
    if not notes:
        return
    text = notes[0] if len(notes) == 1 else "\n  ".join([f"{len(notes)} warnings:", *notes])
    warnings.warn(text, TraceWarning, stacklevel=caller()[1])
