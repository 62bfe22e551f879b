"""Holistic Trace Analysis (PyPI: traceinsight, import: hta): its TraceAnalysis object of one rank,
no analysis.

Usage: hta_parse.py TRACE      (plain JSON or .gz, absolute path)
"""

import logging
import os
import sys

# Before the import, which reads it: keep durations as they are in the file, so that their sum can
# be compared.
os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"

from hta.trace_analysis import TraceAnalysis  # noqa: E402

from seen import report  # noqa: E402


def main() -> None:
    logging.disable(logging.INFO)
    # With the last step included HTA trims nothing: every row that its parser keeps can be counted.
    analysis = TraceAnalysis(trace_files={0: sys.argv[1]}, include_last_profiler_step=True)
    frame = analysis.t.get_trace(0)
    report(len(frame), (frame["dur"] * 1000).round().sum())


if __name__ == "__main__":
    main()
