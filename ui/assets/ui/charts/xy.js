// Points, lines and step lines over two linear axes that may begin anywhere.
import { BELOW, setLabelFont, valuesBelow, valuesLeft, widest } from "../../web/charts/axis.js";
import { plot } from "../../web/charts/plot.js";
import { inSight } from "../../web/charts/stack.js";
import { colour } from "../../web/charts/theme.js";
import { unitTicks } from "./number_ticks.js";

/** How far from a point the pointer may be, in pixels. */
const NEAR = 12;

/**
 * A chart, as an element.
 *
 * @param {object} chart
 * @param {string} chart.kind scatter, line or step
 * @param {Array} chart.series { name, tint, paint, points: [[x, y, number of the row]] }, x rising
 * @param {string} chart.xUnit and chart.yUnit units of the axes
 * @param {Function} chart.describe (number of a series, point) to a tooltip
 * @param {string} chart.label what screen readers say
 */
export function xyChart({ kind, series, xUnit, yUnit, describe, label }) {
  const all = series.flatMap((one, s) => one.points.map((point) => ({ s, point })));
  all.sort((a, b) => a.point[0] - b.point[0]);
  const [xMin, xMax] = extent(all, 0);
  const [yMin, yMax] = withZero(extent(all, 1));
  const whole = xMax - xMin || 1;
  const pad = kind === "scatter" ? 0.02 * whole : 0;
  const [left, right] = [xMin - pad, xMin + whole + pad];
  const range = ({ view }) => [left + view.from * (right - left), left + view.to * (right - left)];
  const vertical = (height) => unitTicks(yUnit, yMin, yMax, height / 45);

  const scales = (frame, state) => {
    const [from, to] = range(state);
    const { start, end } = vertical(frame.height);
    return {
      x: (value) => frame.left + ((value - from) / (to - from)) * frame.width,
      y: (value) => frame.bottom - ((value - start) / (end - start)) * frame.height,
    };
  };

  function draw(context, frame, state) {
    const { x, y } = scales(frame, state);
    valuesLeft(context, frame, vertical(frame.height), y);
    const [from, to] = range(state);
    valuesBelow(context, frame, unitTicks(xUnit, from, to, frame.width / 95), x, true);
    context.save();
    context.beginPath();
    context.rect(frame.left, frame.top - 6, frame.width, frame.height + 7);
    context.clip();
    for (const s of inSight(series, state)) {
      if (kind === "scatter") dots(context, series[s], x, y, [from, to]);
      else line(context, series[s], x, y);
    }
    if (state.hit !== null) ring(context, all[state.hit], x, y);
    context.restore();
  }

  // Points of one pixel that are alike are drawn once.
  function dots(context, { tint, points }, x, y, [from, to]) {
    const seen = new Set();
    context.beginPath();
    for (const [px, py] of points) {
      if (px < from || px > to) continue;
      const [cx, cy] = [Math.round(x(px)), Math.round(y(py))];
      const key = cx * 65536 + cy;
      if (seen.has(key)) continue;
      seen.add(key);
      context.moveTo(cx + 3, cy);
      context.arc(cx, cy, 3, 0, 2 * Math.PI);
    }
    context.globalAlpha = 0.7;
    context.fillStyle = colour(tint);
    context.fill();
    context.globalAlpha = 1;
  }

  function line(context, { tint, points }, x, y) {
    if (!points.length) return;
    context.beginPath();
    let level = y(points[0][1]);
    context.moveTo(x(points[0][0]), level);
    for (const [px, py] of points) {
      if (kind === "step") context.lineTo(x(px), level);
      level = y(py);
      context.lineTo(x(px), level);
    }
    context.strokeStyle = colour(tint);
    context.lineWidth = 1.6;
    context.lineJoin = "round";
    context.stroke();
    if (points.length < 80) dots(context, { tint, points }, x, y, [-Infinity, Infinity]);
  }

  function ring(context, { s, point }, x, y) {
    context.beginPath();
    context.arc(x(point[0]), y(point[1]), 5, 0, 2 * Math.PI);
    context.fillStyle = colour(series[s].tint);
    context.strokeStyle = colour("ink");
    context.lineWidth = 2;
    context.fill();
    context.stroke();
  }

  function pick(px, py, frame, state) {
    const { x, y } = scales(frame, state);
    const shown = new Set(inSight(series, state));
    let [best, least] = [null, kind === "scatter" ? NEAR : Infinity];
    all.forEach(({ s, point }, i) => {
      if (!shown.has(s)) return;
      // On lines the place along the axis counts most.
      const [dx, dy] = [x(point[0]) - px, y(point[1]) - py];
      const distance = kind === "scatter" ? Math.hypot(dx, dy) : Math.hypot(dx, dy / 20);
      if (distance < least) [best, least] = [i, distance];
    });
    return best;
  }

  function step(hit, by, _, state) {
    const shown = new Set(inSight(series, state));
    const [from, to] = range(state);
    const isIn = ({ s, point }) => shown.has(s) && point[0] >= from && point[0] <= to;
    let at = hit === null ? (by > 0 ? -1 : all.length) : hit;
    do at += by;
    while (all[at] && !isIn(all[at]));
    return all[at] ? at : hit;
  }

  function margins(context, _, height) {
    setLabelFont(context);
    const found = vertical(height - 34);
    const room = Math.ceil(widest(context, found.values.map(found.label))) + 14;
    return { left: room, right: 18, top: 12, bottom: BELOW };
  }

  return plot({
    label,
    series: series.length > 1 ? series : [],
    margins,
    draw,
    pick,
    step,
    least: all.length > 2 ? 1e-6 : undefined,
    describe: (hit) => describe(all[hit].s, all[hit].point),
    place: (hit, frame, state) => {
      const { x, y } = scales(frame, state);
      return [x(all[hit].point[0]), y(all[hit].point[1])];
    },
  });
}

function extent(all, at) {
  let [least, most] = [Infinity, -Infinity];
  for (const { point } of all) {
    if (point[at] < least) least = point[at];
    if (point[at] > most) most = point[at];
  }
  return all.length ? [least, most] : [0, 1];
}

// The axis of values begins at 0 unless all values are far from it.
function withZero([least, most]) {
  const span = most - least || Math.abs(most) || 1;
  if (least > 0 && least < 2 * span) return [0, most];
  if (most < 0 && -most < 2 * span) return [least, 0];
  return least === most ? [Math.min(0, least), Math.max(0, most) || 1] : [least, most];
}
