#!/usr/bin/env python3
"""Runs the notebooks from top to bottom and keeps what they print and draw, or checks that it is
still what they hold.

    python notebooks/run.py [--check] [NAME.ipynb …]

The packages are tracesql and those of python/tests/requirements.txt.
With --check nothing is written: a text that differs, a picture that is missing or a cell that fails
ends with exit code 1.  Pictures are not compared byte by byte, as fonts differ between machines;
that each cell still draws one is.
"""

import argparse
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

HERE = Path(__file__).resolve().parent


def executed(path):
    """The notebook with new outputs and without what differs from run to run."""
    book = nbformat.read(path, as_version=4)
    for cell in book.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    NotebookClient(
        book, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(HERE)}}
    ).execute()
    for number, cell in enumerate(book.cells):
        cell.id = "cell-%d" % number
        cell.metadata = {}
        if "outputs" in cell:
            # Reading is shown only where it takes long.
            cell.outputs = [o for o in cell.outputs if "tracesql" not in o.get("metadata", {})]
        for output in cell.get("outputs", []):
            output.pop("metadata", None)
            if output.output_type in ("execute_result", "display_data"):
                output.metadata = {}
            # Tables are kept as text and HTML, pictures as PNG alone.
            if "data" in output and "image/png" in output.data:
                output.data = {"image/png": output.data["image/png"]}
    book.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return book


def shown(book):
    """What each code cell printed or drew, pictures as the word picture."""
    cells = []
    for cell in book.cells:
        if cell.cell_type == "code":
            parts = []
            for output in cell.outputs:
                data = output.get("data", {})
                parts.append(
                    "picture"
                    if "image/png" in data
                    else data.get("text/plain", output.get("text", ""))
                )
            cells.append((cell.source, parts))
    return cells


def differences(path, book):
    found = []
    for number, ((source, old), (_, new)) in enumerate(
        zip(shown(nbformat.read(path, as_version=4)), shown(book))
    ):
        if old != new:
            found.append(
                "%s, code cell %d:\n%s\n--- kept\n%s\n--- now\n%s"
                % (path.name, number, source, "\n".join(old), "\n".join(new))
            )
    return found


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("--check", action="store_true")
    p.add_argument("names", nargs="*")
    a = p.parse_args()
    failed = False
    for path in [HERE / n for n in a.names] or sorted(HERE.glob("*.ipynb")):
        try:
            book = executed(path)
        except CellExecutionError as error:
            print("%s: %s" % (path.name, error), file=sys.stderr)
            failed = True
            continue
        if a.check:
            found = differences(path, book)
            print(
                "\n".join(found) or "%s: %d code cells, as kept" % (path.name, len(shown(book))),
                file=sys.stderr if found else sys.stdout,
            )
            failed |= bool(found)
        else:
            nbformat.write(book, path)
            print("%s: written, %d kB" % (path.name, path.stat().st_size // 1000))
    sys.exit(failed)


if __name__ == "__main__":
    main()
