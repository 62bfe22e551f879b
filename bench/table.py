"""Turns measured figures into the Markdown that run.py prints. Sizes: MB is 10^6 bytes, MiB is 2^20
bytes."""

from dataclasses import dataclass

from measure import Cost

HEADER = [
    "tool",
    "CPU s",
    "wall s",
    "peak MiB",
    "JSON MB per CPU s",
    "JSON MB per wall s",
    "peak ÷ JSON",
    "CPU ÷ tracesql",
    "wall ÷ tracesql",
    "peak ÷ tracesql",
    "same rows",
]


@dataclass(frozen=True)
class Row:
    """One contender's median cost, or the reason why there is no figure."""

    label: str
    cost: Cost | None
    same_rows: str = ""
    note: str = ""


def markdown(header: list[str], rows: list[list[str]]) -> str:
    """Returns a Markdown table: text to the left in the first column, figures to the right in the
    others."""
    rule = ["---"] + ["---:"] * (len(header) - 1)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [header, rule, *rows])


def cost_table(rows: list[Row], json_bytes: int, base: Cost | None) -> str:
    """Returns the comparison; ratios are to `base`, and a ratio above 1 means more than tracesql
    uses."""
    measured = [_cost_cells(row, json_bytes, base) for row in rows if row.cost]
    notes = [f"- {row.label}: not run: {row.note}" for row in rows if not row.cost]
    return "\n".join([markdown(HEADER, measured), *([""] + notes if notes else [])])


def _cost_cells(row: Row, json_bytes: int, base: Cost | None) -> list[str]:
    cost, mega = row.cost, json_bytes / 1e6
    cells = [
        row.label,
        f"{cost.cpu_s:.2f}",
        f"{cost.wall_s:.2f}",
        f"{cost.peak_bytes / 2**20:.0f}",
        f"{mega / cost.cpu_s:.1f}",
        f"{mega / cost.wall_s:.1f}",
        f"{cost.peak_bytes / json_bytes:.2f}",
    ]
    for figure in ("cpu_s", "wall_s", "peak_bytes"):
        cells.append(f"{getattr(cost, figure) / getattr(base, figure):.2f}" if base else "–")
    return cells + [row.same_rows]


def size_table(json_bytes: int, gz_bytes: int, store_bytes: int) -> str:
    """Returns the sizes of the trace, of its .gz and of the store made from it."""
    sizes = [("trace (JSON)", json_bytes), ("trace (.gz)", gz_bytes), ("store", store_bytes)]
    cells = [
        [name, f"{size / 1e6:.1f}", f"{size / json_bytes:.3f}", f"{size / gz_bytes:.2f}"]
        for name, size in sizes
    ]
    return markdown(["size", "MB", "÷ JSON", "÷ .gz"], cells)


def query_table(costs: list[tuple[str, Cost]]) -> str:
    """Returns what single queries cost, each a process of its own that opens the store."""
    cells = [
        [
            f"`{sql}`",
            f"{cost.wall_s * 1000:.0f}",
            f"{cost.cpu_s * 1000:.0f}",
            f"{cost.peak_bytes / 2**20:.0f}",
        ]
        for sql, cost in costs
    ]
    return markdown(["query", "wall ms", "CPU ms", "peak MiB"], cells)
