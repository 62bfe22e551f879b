// Lines over time that keep each value until the next one, with marks.
import { BELOW, baseLine, setLabelFont, valuesBelow, valuesLeft, widest } from "./axis.js";
import { plot } from "./plot.js";
import { inSight } from "./stack.js";
import { colour, font } from "./theme.js";

/** The last of the rising numbers that is at most `x`; -1 if there is none. */
export function lastAtMost(numbers, x) {
  let [below, above] = [-1, numbers.length];
  while (above - below > 1) {
    const middle = (below + above) >> 1;
    if (numbers[middle] <= x) below = middle;
    else above = middle;
  }
  return below;
}

/**
 * Step lines, as an element.
 *
 * @param {object} chart
 * @param {Array} chart.series { name, tint, paint, isDashed, points }: points are [x, y], x rising;
 *     the area below a line is filled unless it is dashed
 * @param {number} [chart.end] where the horizontal axis ends, which begins at 0
 * @param {Array} chart.marks { series, x, y, text }
 * @param {Function} chart.xTicks (from, to, count)
 * @param {Function} chart.yTicks (from, to, count)
 * @param {Function} chart.describe (x, [[number of a series, value]]) to a tooltip
 * @param {string} chart.label what screen readers say
 */
export function stepLines({ series, end, marks = [], xTicks, yTicks, describe, label }) {
  const lines = series.map(({ points }) => ({
    xs: Float64Array.from(points, (p) => p[0]),
    ys: Float64Array.from(points, (p) => p[1]),
  }));
  const last = lines.reduce((most, { xs }) => Math.max(most, xs[xs.length - 1] || 0), 0);
  const whole = end || last || 1;
  const tops = lines.map(({ ys }) => ys.reduce((most, y) => Math.max(most, y), 0));
  const most = (state) => Math.max(1, ...inSight(series, state).map((s) => tops[s]));
  const vertical = (height, state) => yTicks(0, most(state), height / 45);
  const range = ({ view }) => [view.from * whole, view.to * whole];
  const across = (frame, state) => {
    const [from, to] = range(state);
    return (x) => frame.left + ((x - from) / (to - from)) * frame.width;
  };

  function draw(context, frame, state) {
    const found = vertical(frame.height, state);
    const [from, to] = range(state);
    const x = across(frame, state);
    const y = (value) => frame.bottom - (value / found.end) * frame.height;
    valuesLeft(context, frame, found, y);

    context.save();
    context.beginPath();
    context.rect(frame.left, frame.top - 14, frame.width, frame.height + 15);
    context.clip();
    for (const s of inSight(series, state)) {
      const path = stepPath(lines[s], x, y, from, to);
      if (path) strokeStep(context, frame, series[s], path);
    }
    if (state.hit !== null) drawCursor(context, frame, state, x, y);
    drawMarks(context, frame, state, x, y);
    context.restore();

    baseLine(context, frame);
    valuesBelow(context, frame, xTicks(from, to, frame.width / 75), x, false);
  }

  function strokeStep(context, frame, { tint, isDashed }, { line, start, finish }) {
    if (!isDashed) {
      const area = new Path2D(line);
      area.lineTo(finish, frame.bottom);
      area.lineTo(start, frame.bottom);
      area.closePath();
      context.globalAlpha = 0.13;
      context.fillStyle = colour(tint);
      context.fill(area);
      context.globalAlpha = 1;
    }
    context.strokeStyle = colour(tint);
    context.lineWidth = 1.6;
    context.setLineDash(isDashed ? [5, 4] : []);
    context.stroke(line);
    context.setLineDash([]);
  }

  function drawCursor(context, frame, state, x, y) {
    const at = Math.round(x(state.hit)) + 0.5;
    context.strokeStyle = colour("faint");
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(at, frame.top);
    context.lineTo(at, frame.bottom);
    context.stroke();
    for (const [s, value] of valuesAt(state.hit, state)) dot(context, at, y(value), 3.5, series[s]);
  }

  function dot(context, x, y, radius, { tint }) {
    context.fillStyle = colour(tint);
    context.strokeStyle = colour("panel");
    context.lineWidth = 1.5;
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fill();
    context.stroke();
  }

  // The text of a mark stands above it, on a border in the colour of the panel, so that lines do
  // not cross it.
  function drawMarks(context, frame, state, x, y) {
    for (const mark of marks) {
      const at = x(mark.x);
      if (state.hidden.has(mark.series) || at < frame.left - 1 || at > frame.right + 1) continue;
      dot(context, at, y(mark.y), 4.5, { tint: "high" });
      context.font = font(12, "600");
      context.textAlign = "center";
      context.textBaseline = "alphabetic";
      const half = context.measureText(mark.text).width / 2;
      const middle = Math.min(Math.max(at, frame.left + half + 4), frame.right - half);
      context.strokeStyle = colour("panel");
      context.lineWidth = 4;
      context.lineJoin = "round";
      context.strokeText(mark.text, middle, y(mark.y) - 9);
      context.fillStyle = colour("ink");
      context.fillText(mark.text, middle, y(mark.y) - 9);
    }
  }

  // What each line in sight is at x.
  function valuesAt(x, state) {
    return inSight(series, state).flatMap((s) => {
      const at = lastAtMost(lines[s].xs, x);
      return at < 0 ? [] : [[s, lines[s].ys[at]]];
    });
  }

  // The place of the point next to x, by lines in sight.
  function nearest(x, state) {
    let best = null;
    for (const s of inSight(series, state)) {
      const { xs } = lines[s];
      const at = lastAtMost(xs, x);
      for (const found of [xs[at], xs[at + 1]]) {
        if (found === undefined) continue;
        if (best === null || Math.abs(found - x) < Math.abs(best - x)) best = found;
      }
    }
    return best;
  }

  function margins(context, _, height, state) {
    setLabelFont(context);
    const found = vertical(height - 44, state);
    const left = Math.ceil(widest(context, found.values.map(found.label))) + 14;
    return { left, right: 18, top: 20, bottom: BELOW };
  }

  return plot({
    label,
    series,
    margins,
    draw,
    least: Math.min(0.9, Math.max(20 / whole, 1e-9)),
    describe: (x, state) => describe(x, valuesAt(x, state)),
    pick: (x, _, frame, state) => {
      const [from, to] = range(state);
      const at = from + ((x - frame.left) / frame.width) * (to - from);
      const point = nearest(at, state);
      // Between points that are out of sight, the values at the pointer.
      return point === null || (from <= point && point <= to) ? point : Math.round(at);
    },
    step: (hit, by, _, state) => nextPoint(hit, by, range(state), state),
    place: (x, frame, state) => [across(frame, state)(x), frame.top + frame.height / 3],
  });

  // The next place, either way, at which a line in sight has a point.
  function nextPoint(hit, by, [from, to], state) {
    if (hit === null) return nearest(by > 0 ? from : to, state);
    const places = inSight(series, state).flatMap((s) => {
      const { xs } = lines[s];
      let at = lastAtMost(xs, hit);
      if (by > 0) at += 1;
      else while (at >= 0 && xs[at] === hit) at -= 1;
      return xs[at] === undefined ? [] : [xs[at]];
    });
    return places.length ? (by > 0 ? Math.min(...places) : Math.max(...places)) : hit;
  }
}

/**
 * The path of a step line from just before `from` to just after `to`. Of the points of one pixel
 * the lowest, the highest and the last are drawn, so that 100,000 of them cost no more than pixels.
 */
function stepPath({ xs, ys }, x, y, from, to) {
  const first = Math.max(0, lastAtMost(xs, from));
  const last = Math.min(xs.length - 1, lastAtMost(xs, to) + 1);
  if (last < first) return null;
  const line = new Path2D();
  const start = x(xs[first]);
  let finish = start;
  let [pixel, level] = [Math.floor(start), y(ys[first])];
  let [low, high] = [level, level];
  line.moveTo(start, level);
  const flush = () => {
    if (low !== high) {
      line.lineTo(finish, low);
      line.lineTo(finish, high);
    }
    line.lineTo(finish, level);
  };
  for (let i = first + 1; i <= last; i += 1) {
    const [px, py] = [x(xs[i]), y(ys[i])];
    if (Math.floor(px) !== pixel) {
      flush();
      line.lineTo(px, level);
      [pixel, finish, low, high] = [Math.floor(px), px, py, py];
    } else {
      [low, high] = [Math.min(low, py), Math.max(high, py)];
    }
    level = py;
  }
  flush();
  return { line, start, finish };
}
