// What a job waits for: the list of ranks and links, and the time lost by rank and step.
import { el } from "../../../../web/base/elements.js";
import { exact, ns } from "../../../../web/base/format.js";
import { heatMap } from "../../../../web/charts/heat_map.js";
import { tooltipContent } from "../../../../web/charts/tooltip.js";
import { allRows, missing } from "./data.js";
import { notice, panel } from "./panels.js";
import { tableOf } from "./table.js";

export function blamePanels() {
  const list = allRows("blame");
  const why = (key) => notice(missing(key) || { reason: "no rows" });
  return [
    list.length
      ? panel("blame", el("div", {}, tableOf("blame", { rows: list })))
      : panel("blame", why("blame")),
    lostMap(),
  ];
}

// The time lost by rank and step, as a heat map.
function lostMap() {
  const cells = allRows("rank_lost_time");
  const most = Math.max(0, ...cells.map((c) => c.lost_ns ?? 0));
  if (most === 0) return null;
  const ranks = places(cells, "first_rank");
  const steps = places(cells, "first_step");
  const grid = ranks.map(() => new Array(steps.length).fill(null));
  for (const cell of cells) {
    grid[ranks.indexOf(cell.first_rank)][steps.indexOf(cell.first_step)] = cell;
  }
  const describe = (row, column) => {
    const cell = grid[row][column];
    if (!cell) return tooltipContent(`rank ${ranks[row]}`, [[null, "no step recorded", ""]]);
    const where = `${span("rank", cell.first_rank, cell.last_rank)}, ${stepOf(cell)}`;
    const lost = cell.lost_ns === null ? "not known" : exact(cell.lost_ns, "ns");
    const lines = [["data", "lost", lost]];
    if (cell.cause) lines.push([null, "cause", cell.cause.replace("_", " ")]);
    if (cell.first_rank !== cell.last_rank || cell.first_step !== cell.last_step) {
      lines.push([null, "worst", `rank ${cell.worst_rank}, step ${cell.worst_step}`]);
    }
    lines.push([null, "waits for others", cell.wait_ns === null ? "—" : ns(cell.wait_ns)]);
    if (cell.calls_measured < cell.calls_recorded) {
      const some = `${cell.calls_measured} of ${cell.calls_recorded} calls: ${cell.reason}`;
      lines.push([null, "measured", some]);
    }
    return tooltipContent(where, lines);
  };
  return panel(
    "rank_lost_time",
    heatMap({
      names: grid.map((line, at) => nameOf(line, ranks[at])),
      columns: steps.length,
      values: grid.map((line) => Float64Array.from(line, (c) => shareOf(c, most))),
      tint: "data",
      end: steps.length,
      ticks: (from, to, count) => stepTicks(steps, from, to, count),
      describe,
      label: "time lost by rank and step",
    }),
  );
}

// The part of the largest loss; NaN, which is drawn as empty, where it is not known.
function shareOf(cell, most) {
  return cell && cell.lost_ns !== null ? cell.lost_ns / most : NaN;
}

function places(cells, column) {
  return [...new Set(cells.map((c) => c[column]))].sort((a, b) => a - b);
}

function span(word, first, last) {
  return first === last ? `${word} ${first}` : `${word}s ${first} to ${last}`;
}

function stepOf(cell) {
  return span("step", cell.first_step, cell.last_step);
}

function nameOf(line, first) {
  const last = Math.max(first, ...line.filter(Boolean).map((c) => c.last_rank));
  return span("rank", first, last);
}

// Numbers of steps below the left edges of their columns.
function stepTicks(steps, from, to, count) {
  const every = Math.max(1, Math.ceil((to - from) / Math.max(count, 1)));
  const values = [];
  for (let at = Math.ceil(from / every) * every; at < Math.min(to, steps.length); at += every) {
    values.push(at);
  }
  return { values, label: (at) => `${steps[at]}`, end: to };
}
