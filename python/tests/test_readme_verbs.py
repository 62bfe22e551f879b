"""The table of verbs in README.md."""

import re
from pathlib import Path

import tracesql

README = Path(__file__).resolve().parents[1] / "README.md"


def test_every_verb_of_the_table_exists():
    """Names with backticks are those of a session or a result, or words of SQL and Python."""
    rows = re.findall(r"^\| (`.*?) \| (.*?) \|", README.read_text(), re.M)
    verbs = {verb for row in rows for verb in re.findall(r"`(\w+)(?:\(|`)", " ".join(row))}
    known = {*dir(tracesql), *dir(tracesql.Session), *dir(tracesql.Result)}
    assert len(verbs) > 30
    assert verbs - known <= {"duckdb", "tracesql", "with", "frame", "FROM", "SHOW", "DESCRIBE"}
