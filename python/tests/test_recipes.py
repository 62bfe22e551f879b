"""docs/recipes.md runs as it stands there, and the notebooks give what they hold."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tracesql

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "recipes.md"

#: Packages of blocks that say so in their first line. They are too large to install for a test.
LARGE = {"chdb"}


def blocks():
    """The blocks of the page: line, language, package that it needs, and text."""
    found, lines = [], PAGE.read_text().splitlines()
    start = None
    for number, line in enumerate(lines, 1):
        if not line.startswith("```"):
            continue
        if start is None:
            start, words = number, line[3:].split()
        else:
            text = "\n".join(lines[start : number - 1])
            found.append((start, words[0], words[1] if len(words) > 1 else None, text))
            start = None
    return found


def program():
    """The command line, where ``TRACESQL`` or the path has it."""
    found = os.environ.get("TRACESQL") or shutil.which("tracesql")
    return Path(found).resolve() if found else None


def environment():
    """The interpreter, the package and the program of this test on all paths."""
    folders = [Path(sys.executable).parent, *([program().parent] if program() else [])]
    package = Path(tracesql.__file__).parents[1]
    python = [str(package), os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ,
        "PATH": os.pathsep.join([*map(str, folders), os.environ["PATH"]]),
        "PYTHONPATH": os.pathsep.join(filter(None, python)),
        "NO_COLOR": "1",
        "LC_ALL": "C.UTF-8",
    }


def importable(package):
    code = f"import {package}"
    return subprocess.run([sys.executable, "-c", code], stderr=subprocess.DEVNULL).returncode == 0


def skip(package, what):
    """Leaves out what needs a package, as the other tests do: visibly, and in CI only if allowed."""
    allowed = os.environ.get("TRACESQL_MAY_SKIP", "").split(",")
    assert "CI" not in os.environ or package in allowed, f"{what} needs {package}"
    if "TRACESQL_SKIPPED" in os.environ:
        with open(os.environ["TRACESQL_SKIPPED"], "a") as file:
            file.write(f"{package}\t{what}\t{package} is not installed\n")


def trimmed(text):
    return [line.rstrip() for line in text.rstrip().splitlines()]


def test_every_recipe_gives_what_the_page_shows(fixture, tmp_path):
    for module in ("datafusion", "duckdb", "pandas", "polars", "pyarrow"):
        pytest.importorskip(module)
    if program() is None:
        pytest.skip("no program: TRACESQL names none, and tracesql is not on the path")
    (tmp_path / "traces").mkdir()
    for rank in (0, 1):
        shutil.copy(
            fixture(f"synthetic_gpu_rank{rank}.json.gz"), tmp_path / f"traces/rank{rank}.json.gz"
        )
    starts = {
        "sh": ["bash", "-euo", "pipefail", "-c"],
        "python": [sys.executable, "-c"],
        "sql": [str(program()), "query", "store", "-c"],
    }
    found = blocks()
    wrong, ran = [], 0
    for at, (line, language, needs, text) in enumerate(found):
        if language == "text":
            continue
        assert language in starts, f"line {line}: a block of {language!r} is not run"
        assert needs is None or needs in LARGE, f"line {line}: {needs!r} is not a large package"
        if needs and not importable(needs):
            skip(needs, f"docs/recipes.md, line {line}")
            continue
        done = subprocess.run(
            [*starts[language], text],
            cwd=tmp_path,
            env=environment(),
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{PAGE.name}, line {line}:\n{text}\n{done.stderr}"
        follows = found[at + 1] if at + 1 < len(found) else (0, "", None, "")
        shown = follows[3] if follows[1] == "text" else ""
        if trimmed(done.stdout) != trimmed(shown):
            wrong.append(f"{PAGE.name}, line {line}:\n{text}\n--- gives\n{done.stdout}")
        ran += 1
    assert not wrong, "\n".join(wrong)
    assert ran > 15, f"only {ran} recipes were run"


def test_recipes_and_notebooks_use_the_package():
    texts = {path.name: path.read_text() for path in (ROOT / "notebooks").glob("*.ipynb")}
    python = "\n".join(text for _, language, _, text in blocks() if language == "python")
    assert len(texts) >= 4 and all("import tracesql" in text for text in texts.values())
    assert "import tracesql" in python and "subprocess" not in python


def test_notebooks_give_what_they_hold():
    for module in ("nbclient", "nbformat", "ipykernel", "matplotlib", "duckdb", "polars"):
        pytest.importorskip(module)
    done = subprocess.run(
        [sys.executable, str(ROOT / "notebooks" / "run.py"), "--check"],
        env=environment(),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert len(re.findall("as kept", done.stdout)) >= 4, f"{done.stdout}\n{done.stderr}"
