"""Warnings about traces."""

from __future__ import annotations


class TraceWarning(UserWarning):
    """Something about an input is odd.

    For example elements that are not events, a file that is cut off, or a view that was left out.
    """
