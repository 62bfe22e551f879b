"""The plain notebook way: json.load, then a data frame of the events with one column per args key.

Usage: python_pandas.py TRACE      (plain JSON). The frame stays in memory; nothing is written.
"""

import json
import sys

import pandas as pd

from seen import report


def load_frame(path: str) -> pd.DataFrame:
    """Returns one row per element of traceEvents; the keys of args become columns named
    `args.<key>`."""
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    args = pd.DataFrame([event.pop("args", None) or {} for event in events]).add_prefix("args.")
    return pd.concat([pd.DataFrame(events), args], axis="columns")


def main() -> None:
    frame = load_frame(sys.argv[1])
    durations_us = frame.loc[frame["ph"] == "X", "dur"]
    report(len(frame), (durations_us * 1000).round().sum())


if __name__ == "__main__":
    main()
