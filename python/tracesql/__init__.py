"""SQL over machine-learning profiler traces.

>>> import tracesql
>>> session = tracesql.open("trace.json.gz")                      # doctest: +SKIP
>>> session.sql("SELECT name, dur_ns FROM kernels ORDER BY dur_ns DESC LIMIT 5")  # doctest: +SKIP

A session holds traces of PyTorch's profiler, other Chrome traces, or MLLM's perf.json. Results go
to pandas, polars, pyarrow and DuckDB through Arrow's C interface, without a copy.
"""

from __future__ import annotations

from ._checks import Comparison, Verdict
from ._native import SCHEMA_VERSION, Error, InputError, QueryError, UsageError, __version__
from ._open import compare, ingest, open
from ._result import Result
from ._row import Row
from ._session import Session
from ._shown import Text
from ._stream import Stream
from ._ui import Ui
from ._warnings import TraceWarning

__all__ = [
    "SCHEMA_VERSION",
    "Comparison",
    "Error",
    "InputError",
    "QueryError",
    "Result",
    "Row",
    "Session",
    "Stream",
    "Text",
    "TraceWarning",
    "Ui",
    "UsageError",
    "Verdict",
    "__version__",
    "compare",
    "ingest",
    "load_ipython_extension",
    "open",
]


def load_ipython_extension(ipython: object) -> None:
    """What ``%load_ext tracesql`` runs: adds the magics ``%tracesql`` and ``%%tracesql``."""
    from ._magic import register

    register(ipython)
