"""What the notebooks share: reading traces into a store, running SQL with the `tracesql` program,
and the look of plots."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import pyarrow.ipc

PROGRAM = os.environ.get("TRACESQL", "tracesql")
FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"

INK, MUTED, GRID = "#1F2933", "#7B8794", "#E4E7EB"
BLUE, ORANGE, GREEN, RED, PURPLE, YELLOW, GREY = (
    "#2F6DB5",
    "#E07B39",
    "#3C9D6E",
    "#C2413B",
    "#7A5AA6",
    "#E0B03A",
    "#A7B1BC",
)


def store_of(*paths, names=None):
    """Reads traces into a new store and returns its folder; names, if given, are what the traces
    are called there."""
    folder = Path(tempfile.mkdtemp(prefix="tracesql-notebook-"))
    if names:
        copies = [folder / f"{name}.json.gz" for name in names]
        for path, copy in zip(paths, copies):
            shutil.copy(path, copy)
        paths = copies
    run("ingest", *paths, "-o", folder / "store", "--quiet")
    return folder / "store"


def run(*arguments):
    """Runs the program; what it says on standard error becomes the exception if it fails."""
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.decode())
    return done.stdout


def sql(store, query, **settings):
    """The answer of a query as an Arrow table: .to_pandas(), or polars.from_arrow(...)."""
    options = [x for name, value in settings.items() for x in ("--set", f"{name}={value}")]
    return pyarrow.ipc.open_stream(
        run("query", store, "-c", query, "--format", "arrow", *options)
    ).read_all()


def style():
    """Plain plots: no frame, light grid, one font."""
    plt.rcParams.update(
        {
            "figure.dpi": 100,
            "savefig.dpi": 100,
            "figure.facecolor": "white",
            "savefig.bbox": "tight",
            "font.family": "DejaVu Sans",
            "font.size": 9,
            "text.color": INK,
            "axes.labelcolor": INK,
            "axes.edgecolor": MUTED,
            "xtick.color": MUTED,
            "ytick.color": MUTED,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.titlesize": 11,
            "axes.titleweight": "bold",
            "axes.titlelocation": "left",
            "axes.titlepad": 10,
            "axes.grid": True,
            "grid.color": GRID,
            "axes.axisbelow": True,
            "legend.frameon": False,
            "svg.hashsalt": "tracesql",
        }
    )


def shorten(text, length=38):
    """A name that fits beside a bar."""
    return text if len(text) <= length else text[: length - 1] + "…"
