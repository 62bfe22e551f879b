// What lies over and under the pictures of tracks: rows, bands of steps, the selection, marks, the
// pointer. Sizes are CSS pixels.
import { ns } from "../../web/base/format.js";
import { colour, font } from "../../web/charts/theme.js";
import { firstAbove } from "./blocks.js";
import { rectangle } from "./shown_events.js";

/** The steps of a trace that reach into the view. */
export function stepsInSight(tl, trace) {
  const steps = tl.model.steps.get(trace) || [];
  tl.stepStarts = tl.stepStarts || new Map();
  if (!tl.stepStarts.has(trace))
    tl.stepStarts.set(
      trace,
      steps.map((s) => s.start),
    );
  const starts = tl.stepStarts.get(trace);
  const from = Math.max(0, firstAbove(starts, tl.view.start, 0, starts.length) - 1);
  return steps.slice(from, firstAbove(starts, tl.view.end, 0, starts.length));
}

/** The number of the step of a trace at a time, or null. */
export function stepAt(tl, trace, time) {
  const steps = tl.model.steps.get(trace) || [];
  let [low, high] = [0, steps.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (steps[middle].start > time) high = middle;
    else low = middle + 1;
  }
  const step = steps[low - 1];
  return step && time < step.end ? step.step : null;
}

/** The ground of a row: its line, the colour of heads, and every other step a little darker. */
export function drawGround(context, tl, row, y) {
  const { width } = tl.size;
  if (row.kind !== "track") {
    context.fillStyle = colour(row.kind === "trace" ? "accent-soft" : "hover");
    context.fillRect(0, y, width, row.height);
  } else drawBands(context, tl, row, y);
  context.fillStyle = colour("line");
  context.fillRect(0, y + row.height - 1, width, 1);
}

function drawBands(context, tl, row, y) {
  const steps = stepsInSight(tl, row.track.trace);
  if (steps.length > tl.size.width / 6) return;
  context.fillStyle = colour("pointer");
  context.globalAlpha = 0.5;
  for (const { step, start, end } of steps) {
    if (Number(step) % 2 === 0) continue;
    const x = tl.view.x(start);
    context.fillRect(x, y, tl.view.x(end) - x, row.height);
  }
  context.globalAlpha = 1;
}

/** A frame around an event. */
export function drawOutline(context, tl, event, isSelected) {
  const place = tl.layout.place(event.key, tl.scroll);
  if (!place) return;
  const lane = Math.max(0, event.lane ?? 0);
  const r = rectangle(tl, place.row, lane, event.start, event.end, place.y);
  const top = event.lane === -1 ? place.y : r.y;
  const height = event.lane === -1 ? 9 : r.height;
  const left = Math.max(-4, r.x - 0.5);
  const right = Math.min(tl.size.width + 4, r.x + r.width + 0.5);
  context.strokeStyle = colour(isSelected ? "ink" : "accent");
  context.lineWidth = isSelected ? 2 : 1.5;
  context.strokeRect(left, top - 0.5, Math.max(2, right - left), height + 1);
}

/** The selected area with its length. */
export function drawArea(context, tl, { start, end, keys }) {
  const [left, right] = [tl.view.x(start), tl.view.x(end)];
  context.fillStyle = colour("accent");
  context.globalAlpha = 0.14;
  const wanted = new Set(keys);
  for (const { row, y } of tl.layout.inSight(tl.scroll, tl.size.height))
    if (row.kind === "track" && wanted.has(row.track.key))
      context.fillRect(left, y, right - left, row.height - 1);
  context.globalAlpha = 1;
  verticalLine(context, tl, left, "accent");
  verticalLine(context, tl, right, "accent");
}

function verticalLine(context, tl, x, tint, dash = []) {
  if (x < 0 || x > tl.size.width) return;
  context.strokeStyle = colour(tint);
  context.lineWidth = 1;
  context.setLineDash(dash);
  context.beginPath();
  context.moveTo(Math.round(x) + 0.5, 0);
  context.lineTo(Math.round(x) + 0.5, tl.size.height);
  context.stroke();
  context.setLineDash([]);
}

/** Marks as lines with a pale span between them. */
export function drawMarks(context, tl) {
  for (const mark of tl.marks.all()) {
    const [left, right] = [tl.view.x(mark.start), tl.view.x(mark.end)];
    context.fillStyle = colour(mark.tint);
    context.globalAlpha = 0.08;
    context.fillRect(left, 0, right - left, tl.size.height);
    context.globalAlpha = 1;
    verticalLine(context, tl, left, mark.tint, mark.isKept ? [] : [4, 3]);
    if (mark.end > mark.start)
      verticalLine(context, tl, right, mark.tint, mark.isKept ? [] : [4, 3]);
  }
}

/** The line of the pointer. */
export function drawPointer(context, tl) {
  if (tl.pointer.isInside) verticalLine(context, tl, tl.pointer.x, "pointer");
}

/** The rectangle that a drag draws, with its length in time. */
export function drawDrag(context, tl, { x0, x1, y0, y1 }) {
  const [left, right] = [Math.min(x0, x1), Math.max(x0, x1)];
  const [top, bottom] = [Math.min(y0, y1), Math.max(y0, y1)];
  context.fillStyle = colour("accent");
  context.globalAlpha = 0.16;
  context.fillRect(left, top, right - left, bottom - top);
  context.globalAlpha = 1;
  context.strokeStyle = colour("accent");
  context.strokeRect(left + 0.5, top + 0.5, right - left, bottom - top);
  const text = ns(Math.round((right - left) / tl.view.scale()));
  context.font = font(12, "600");
  context.textAlign = "center";
  context.textBaseline = "bottom";
  context.fillStyle = colour("ink");
  context.fillText(text, (left + right) / 2, Math.max(16, top - 3));
}
