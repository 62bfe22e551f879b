// Points over two logarithmic axes, under roofs: a slope that ends in a flat line.
import { BELOW, setLabelFont, valuesBelow, valuesLeft, widest } from "./axis.js";
import { plot } from "./plot.js";
import { inSight } from "./stack.js";
import { colour } from "./theme.js";

/**
 * A chart of points, as an element.
 *
 * @param {object} chart
 * @param {Array} chart.series { name, tint, paint }
 * @param {Array} chart.points { series, x, y, area, isHollow }: x and y above 0, area a share of the
 *     largest circle
 * @param {Array} chart.roofs { name, slope, top }: y is at most slope times x, and at most top
 * @param {Function} chart.describe (number of a point) to a tooltip
 * @param {Function} chart.xLabel (value) and chart.yLabel (value) to texts
 * @param {string} chart.label what screen readers say
 */
export function logPoints({ series, points, roofs, describe, xLabel, yLabel, label }) {
  const ridges = roofs.map(({ slope, top }) => top / slope);
  const [left, right] = decades([...points.map((p) => p.x), ...ridges]);
  const [low, high] = decades([...points.map((p) => p.y), ...roofs.map((r) => r.top)]);
  const across = (frame) => (value) =>
    frame.left + ((Math.log10(value) - left) / (right - left)) * frame.width;
  const up = (frame) => (value) =>
    frame.bottom - ((Math.log10(value) - low) / (high - low)) * frame.height;
  const ticks = (from, to, text) => ({ values: powers(from, to), label: text });

  function draw(context, frame, state) {
    const [x, y] = [across(frame), up(frame)];
    valuesLeft(context, frame, ticks(low, high, yLabel), y);
    valuesBelow(context, frame, ticks(left, right, xLabel), x, true);
    context.save();
    context.beginPath();
    context.rect(frame.left, frame.top - 14, frame.width, frame.height + 15);
    context.clip();
    roofs.forEach((roof) => drawRoof(context, frame, roof, x, y));
    const shown = new Set(inSight(series, state));
    points.forEach((point, i) => {
      if (shown.has(point.series)) drawPoint(context, point, x, y, i === state.hit);
    });
    context.restore();
  }

  // From the left edge up the slope, and from the ridge to the right edge.
  function drawRoof(context, frame, { name, slope, top }, x, y) {
    const ridge = x(top / slope);
    const start = 10 ** left;
    context.strokeStyle = colour("faint");
    context.lineWidth = 1.4;
    context.beginPath();
    context.moveTo(frame.left, y(slope * start));
    context.lineTo(ridge, y(top));
    context.lineTo(frame.right, y(top));
    context.stroke();
    // The ridge, from which arithmetic limits.
    context.lineWidth = 1;
    context.setLineDash([2, 4]);
    context.beginPath();
    context.moveTo(ridge, y(top));
    context.lineTo(ridge, frame.bottom);
    context.stroke();
    context.setLineDash([]);
    setLabelFont(context);
    context.fillStyle = colour("quiet");
    context.textAlign = "right";
    context.textBaseline = "alphabetic";
    context.fillText(name, frame.right - 4, y(top) - 4);
  }

  function drawPoint(context, { series: s, x: px, y: py, area, isHollow }, x, y, isHit) {
    context.beginPath();
    context.arc(x(px), y(py), radius(area), 0, 2 * Math.PI);
    context.fillStyle = colour(series[s].tint);
    context.globalAlpha = isHollow ? 0.15 : 0.65;
    context.fill();
    context.globalAlpha = 1;
    context.strokeStyle = colour(isHit ? "ink" : series[s].tint);
    context.lineWidth = isHit ? 2 : 1.2;
    context.stroke();
  }

  // The point whose edge is next to a place, if it is near.
  function pick(px, py, frame, state) {
    const [x, y] = [across(frame), up(frame)];
    const shown = new Set(inSight(series, state));
    let [best, least] = [null, NEAR];
    points.forEach((point, i) => {
      if (!shown.has(point.series)) return;
      const distance = Math.hypot(x(point.x) - px, y(point.y) - py) - radius(point.area);
      if (distance < least) [best, least] = [i, distance];
    });
    return best;
  }

  // Points are in the order of their size, which is the order of keys too.
  function step(hit, by, _, state) {
    const shown = new Set(inSight(series, state));
    const list = points.map((_, i) => i).filter((i) => shown.has(points[i].series));
    if (!list.length) return null;
    const at = hit === null ? (by > 0 ? -1 : 0) : list.indexOf(hit);
    return list[(at + by + list.length) % list.length];
  }

  function margins(context) {
    setLabelFont(context);
    const room = Math.ceil(widest(context, powers(low, high).map(yLabel))) + 14;
    return { left: room, right: 18, top: 20, bottom: BELOW };
  }

  return plot({
    label,
    kind: "tall",
    series,
    margins,
    draw,
    pick,
    step,
    describe,
    place: (hit, frame) => [across(frame)(points[hit].x), up(frame)(points[hit].y)],
  });
}

// How far from a point the pointer may be, in pixels.
const NEAR = 8;

const radius = (area) => 3 + 17 * Math.sqrt(Math.min(Math.max(area, 0), 1));

// The powers of ten around all values, as exponents.
function decades(values) {
  const logs = values.filter((v) => v > 0 && Number.isFinite(v)).map((v) => Math.log10(v));
  if (!logs.length) return [0, 1];
  const from = Math.floor(logs.reduce((a, b) => Math.min(a, b)));
  const to = Math.ceil(logs.reduce((a, b) => Math.max(a, b)) + 0.01);
  return [from, Math.max(to, from + 1)];
}

function powers(from, to) {
  const values = [];
  for (let power = from; power <= to; power += 1) values.push(10 ** power);
  return values;
}
