"""A plot by matplotlib from the answer of the program: where the time of each step goes."""

import io
import json
import subprocess

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot  # noqa: E402

# The parts of a step with their colours, which are those of the report page.
PARTS = {
    "kernel": "#3d6fdb",
    "communication": "#e0803a",
    "memcpy": "#8c63d2",
    "runtime": "#d3a61c",
    "dataloader": "#d1495b",
    "cpu_exec": "#3fa07c",
    "other": "#c9cfda",
}
LABELS = {
    "kernel": "computation",
    "memcpy": "copies",
    "runtime": "CUDA calls",
    "dataloader": "data loading",
    "cpu_exec": "operators on the host",
}
SQL = "SELECT step, {} FROM step_time ORDER BY step"


def steps(program, trace, environment):
    """The time of each step by part, in ns."""
    columns = ", ".join(f"{part}_ns" for part in PARTS)
    command = [str(program), str(trace), "-q", "--format", "json", "-c", SQL.format(columns)]
    answer = subprocess.run(command, env=environment, check=True, capture_output=True)
    return json.loads(answer.stdout)


def svg(rows):
    """Draw bars of stacked parts, one bar for each step."""
    style = {
        "svg.fonttype": "none",
        "svg.hashsalt": "tracesql",
        "font.family": "sans-serif",
        "font.sans-serif": ["DejaVu Sans"],
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.spines.left": False,
        "axes.edgecolor": "#8d95a5",
        "text.color": "#1b2130",
    }
    with pyplot.rc_context(style):
        figure, axes = pyplot.subplots(figsize=(9, 3.2), layout="constrained")
        left = [0.0] * len(rows)
        names = [f"step {row['step']}" for row in rows]
        for part, colour in PARTS.items():
            widths = [(row[f"{part}_ns"] or 0) / 1e6 for row in rows]
            label = LABELS.get(part, part)
            axes.barh(names, widths, left=left, color=colour, height=0.64, label=label)
            for at, width in enumerate(widths):
                if width > 0.25:
                    ink = "#1b2130" if part in ("other", "runtime", "communication") else "white"
                    axes.text(
                        left[at] + width / 2, at, f"{width:.2f}", ha="center", va="center",
                        color=ink, fontsize=9,
                    )
            left = [start + width for start, width in zip(left, widths)]
        axes.invert_yaxis()
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel("ms")
        axes.set_title("Where the time of each step goes", loc="left", fontweight="bold")
        figure.legend(ncols=4, loc="outside lower left", frameon=False, handlelength=1)
        out = io.BytesIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
        pyplot.close(figure)
    return out.getvalue()
