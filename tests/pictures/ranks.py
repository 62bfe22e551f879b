"""Plots of jobs of several ranks: residuals of aligned clocks, time lost by rank and step, and the
critical path over the timelines of all ranks."""

import io
import json
import subprocess

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot  # noqa: E402
from matplotlib.patches import Rectangle  # noqa: E402

INK, MUTED, LINE = "#1b2130", "#8d95a5", "#c9cfda"
BLUE, ORANGE, RED, GREEN, YELLOW = "#3d6fdb", "#e0803a", "#d1495b", "#3fa07c", "#d3a61c"
STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "tracesql",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": MUTED,
    "text.color": INK,
}
# Kinds of pieces of the path with their colours; the others are waits.
KINDS = {
    "compute": (BLUE, "computation"),
    "transfer": (ORANGE, "exchange after all ranks came"),
    "host": (GREEN, "host"),
    "launch": (YELLOW, "launch"),
}
WAIT = (RED, "other waits")


def ask(program, store, sql, environment):
    command = [str(program), "query", str(store), "-q", "--format", "json", "-c", sql]
    answer = subprocess.run(command, env=environment, check=True, capture_output=True)
    return json.loads(answer.stdout)


def picture(draw, size, **panels):
    """The SVG that draw(figure, axes) makes."""
    with pyplot.rc_context(STYLE):
        figure, axes = pyplot.subplots(figsize=size, layout="constrained", **panels)
        draw(figure, axes)
        out = io.BytesIO()
        figure.savefig(out, format="svg", dpi=140, metadata={"Date": None, "Creator": None})
        pyplot.close(figure)
    return out.getvalue()


def residuals(program, store, environment):
    """Ends of collectives against the median end of their call, before and after alignment."""
    rows = ask(program, store, """
        WITH ends AS (
            SELECT
                m.rank, c.call_id, m.end_job_ns - c.end_ns AS after_ns, m.error_ns,
                coalesce(t.base_time_ns, 0) + e.end_ns AS unix_ns,
                c.end_ns - min(c.end_ns) OVER () AS at_ns
            FROM collective_members m
            JOIN collective_calls c ON c.job = m.job AND c.call_id = m.call_id
            JOIN events e ON e.trace_id = m.trace_id AND e.event_id = m.event_id
            JOIN traces t ON t.trace_id = m.trace_id
            WHERE c.status = 'complete' AND c.collective <> 'broadcast'
        )
        SELECT
            rank, at_ns, after_ns, error_ns,
            unix_ns - CAST(median(unix_ns) OVER (PARTITION BY call_id) AS BIGINT) AS before_ns
        FROM ends ORDER BY call_id, rank""", environment)
    error = sorted(row["error_ns"] for row in rows)[len(rows) // 2]
    inside = sum(abs(row["after_ns"]) <= 1000 for row in rows)

    def draw(_, axes):
        at = [row["at_ns"] / 1e6 for row in rows]
        ranks = [row["rank"] for row in rows]
        for panel, column, scale in ((axes[0], "before_ns", 1e6), (axes[1], "after_ns", 1e3)):
            values = [row[column] / scale for row in rows]
            panel.scatter(at, values, c=ranks, cmap="viridis", s=3, lw=0, rasterized=True)
            panel.axhline(0, color=MUTED, lw=0.6, zorder=0)
            panel.set_xlabel("time of the job, ms")
        axes[0].set_title("Clocks as recorded", loc="left", fontweight="bold")
        axes[0].set_ylabel("end less median end of the call, ms")
        axes[1].set_title("Clocks aligned", loc="left", fontweight="bold")
        axes[1].set_ylabel("end less median end of the call, µs")
        axes[1].axhspan(-error / 1e3, error / 1e3, color=LINE, alpha=0.5, zorder=-1)
        axes[1].text(
            0.99, 0.97, f"{100 * inside / len(rows):.1f} % of {len(rows):,} ends within 1 µs",
            transform=axes[1].transAxes, ha="right", va="top",
        )

    return picture(draw, (9, 3.2), nrows=1, ncols=2)


def heat(program, store, faults, environment):
    """What the job loses to each rank in each step, and what was done to it."""
    rows = ask(program, store, """
        SELECT rank, step, excess_pct, lost_ns FROM rank_step_heat ORDER BY step, rank
        """, environment)
    steps = sorted({row["step"] for row in rows})
    ranks = sorted({row["rank"] for row in rows})
    extent = (min(ranks) - 0.5, max(ranks) + 0.5, len(steps) - 0.5, -0.5)

    def cells(column, scale):
        found = {(row["step"], row["rank"]): (row[column] or 0) / scale for row in rows}
        return [[found.get((step, rank), 0) for rank in ranks] for step in steps]

    def draw(figure, axes):
        panels = [("Computation above the median of the role, %", "excess_pct", 1, "Blues")]
        panels.append(("Time that all ranks lose to the rank, ms", "lost_ns", 1e6, "Reds"))
        for panel, (title, column, scale, colours) in zip(axes, panels):
            values = cells(column, scale)
            shown = panel.imshow(
                values, aspect="auto", cmap=colours, vmin=0, extent=extent, interpolation="nearest"
            )
            figure.colorbar(shown, ax=panel, fraction=0.03, pad=0.01)
            panel.set_title(title, loc="left", fontweight="bold")
            panel.set_yticks(range(len(steps)), [f"step {step}" for step in steps])
        truth = axes[2]
        truth.set_title("The truth: faults of ranks", loc="left", fontweight="bold")
        truth.set(xlim=extent[:2], ylim=extent[2:], xlabel="rank")
        truth.set_yticks(range(len(steps)), [f"step {step}" for step in steps])
        for fault in faults:
            if "rank" not in fault:
                continue
            at = [steps.index(fault["step"])] if fault["step"] in steps else range(len(steps))
            for place in at:
                truth.add_patch(Rectangle((fault["rank"] - 0.5, place - 0.5), 1, 1, color=RED))
            truth.text(
                fault["rank"] + 1, at[0], f"rank {fault['rank']}: {fault['cause']}", va="center"
            )

    return picture(draw, (9, 4.4), nrows=3, ncols=1, sharex=True)


def path(program, store, title, environment):
    """The critical path of all that was recorded, over the device work of all ranks."""
    pieces = ask(program, store, """
        SELECT rank, start_ns, end_ns, kind FROM job_critical_path
        WHERE window_id = 0 AND rank IS NOT NULL ORDER BY position""", environment)
    work = ask(program, store, """
        SELECT j.rank, n.class = 'communication' AS is_communication,
            coalesce(t.base_time_ns, 0) + k.ts_ns - c.offset_ns AS start_ns, k.dur_ns
        FROM kernels k
        JOIN traces t ON t.trace_id = k.trace_id
        JOIN job_ranks j ON j.trace_id = k.trace_id
        JOIN kernel_classes n ON n.trace_id = k.trace_id AND n.event_id = k.event_id
        JOIN rank_clocks c ON c.job = j.job AND c.rank = j.rank AND c.segment = 1
        WHERE k.kind = 'kernel' ORDER BY 1, 3""", environment)
    zero = pieces[0]["start_ns"]
    span = (pieces[-1]["end_ns"] - zero) / 1e6

    def draw(figure, axes):
        for row in work:
            colour, height = ("#f3d9c3", 0.36) if row["is_communication"] else ("#c5d3f3", 0.36)
            bottom = row["rank"] + (0.04 if row["is_communication"] else -0.4)
            axes.add_patch(Rectangle(
                ((row["start_ns"] - zero) / 1e6, bottom), row["dur_ns"] / 1e6, height, color=colour,
                lw=0, rasterized=True,
            ))
        last = None
        for piece in pieces:
            colour, _ = KINDS.get("host" if piece["kind"] in ("host", "python", "data_loading")
                                  else piece["kind"], WAIT)
            start, end = (piece["start_ns"] - zero) / 1e6, (piece["end_ns"] - zero) / 1e6
            if last is not None and last != piece["rank"]:
                axes.plot([start, start], [last, piece["rank"]], color=INK, lw=0.8, zorder=2)
            axes.plot([start, end], [piece["rank"]] * 2, color=colour, lw=4, zorder=3,
                      solid_capstyle="butt")
            last = piece["rank"]
        for colour, name in [*KINDS.values(), WAIT]:
            axes.plot([], [], color=colour, lw=4, label=name)
        axes.plot([], [], color="#c5d3f3", lw=6, label="computation of the device")
        axes.plot([], [], color="#f3d9c3", lw=6, label="communication of the device")
        ranks = sorted({row["rank"] for row in work})
        axes.set(xlim=(0, span), ylim=(max(ranks) + 0.7, min(ranks) - 0.7), xlabel="ms")
        axes.set_yticks(ranks, [f"rank {rank}" for rank in ranks])
        axes.tick_params(axis="y", length=0)
        axes.set_title(title, loc="left", fontweight="bold")
        figure.legend(ncols=4, loc="outside lower left", frameon=False, handlelength=1)

    return picture(draw, (9, 4.2))
