// Points over two logarithmic axes, under roofs: a slope that ends in a flat line.
import { BELOW, baseLine, setLabelFont, valuesBelow, valuesLeft, widest } from "./axis.js";
import { plot } from "./plot.js";
import { inSight } from "./stack.js";
import { colour } from "./theme.js";

/**
 * A chart of points, as an element.
 *
 * @param {object} chart
 * @param {Array} chart.series { name, tint, paint }
 * @param {Array} chart.points { series, x, y, area, isHollow }: x and y above 0, area a share of the
 *     largest circle; a point of the strip has no x
 * @param {object} [chart.strip] { top, name, label }: a strip left of the chart for points with a y
 *     of their own; top is the roof of them, label (value) gives texts
 * @param {Array} chart.roofs { name, slope, top }: y is at most slope times x, and at most top
 * @param {Function} chart.describe (number of a point) to a tooltip
 * @param {Function} chart.xLabel (value) and chart.yLabel (value) to texts
 * @param {string} chart.label what screen readers say
 */
export function logPoints({ series, points, strip, roofs, describe, xLabel, yLabel, label }) {
  const isBeside = points.map((p) => p.x === undefined);
  const inside = points.filter((_, i) => !isBeside[i]);
  const beside = points.filter((_, i) => isBeside[i]);
  const hasStrip = strip !== undefined && beside.length > 0;
  const ridges = roofs.map(({ slope, top }) => top / slope);
  const [left, right] = decades([...inside.map((p) => p.x), ...ridges]);
  const [low, high] = decades([...inside.map((p) => p.y), ...roofs.map((r) => r.top)]);
  const own = hasStrip ? decades([...beside.map((p) => p.y), strip.top]) : [0, 1];
  const ticks = (from, to, text) => ({ values: powers(from, to), label: text });
  // The width of the labels between the strip and the chart; known when margins are.
  let gap = 0;

  const onLog = (value, from, to) => (Math.log10(value) - from) / (to - from);
  const chartOf = (frame) => {
    const start = hasStrip ? frame.left + STRIP + gap : frame.left;
    return { ...frame, left: start, width: frame.right - start };
  };
  const stripOf = (frame) => ({ ...frame, right: frame.left + STRIP, width: STRIP });
  const across = (chart) => (value) => chart.left + onLog(value, left, right) * chart.width;
  const up = (chart) => (value) => chart.bottom - onLog(value, low, high) * chart.height;
  const upStrip = (box) => (value) => box.bottom - onLog(value, ...own) * box.height;
  // Points of the strip have no x; they are spread so that few cover each other.
  const turn = (i) => 0.12 + 0.76 * ((i * 0.618034) % 1);

  /** The place of a point in the canvas. */
  function placeOf(i, frame) {
    const { x, y } = points[i];
    if (isBeside[i]) {
      const box = stripOf(frame);
      return [box.left + turn(i) * box.width, upStrip(box)(y)];
    }
    const chart = chartOf(frame);
    return [across(chart)(x), up(chart)(y)];
  }

  function draw(context, frame, state) {
    const chart = chartOf(frame);
    const [x, y] = [across(chart), up(chart)];
    valuesLeft(context, chart, ticks(low, high, yLabel), y);
    valuesBelow(context, chart, ticks(left, right, xLabel), x, true);
    within(context, chart, () => roofs.forEach((roof) => drawRoof(context, chart, roof, x, y)));
    if (hasStrip) drawStrip(context, stripOf(frame));
    const shown = new Set(inSight(series, state));
    const all = (box, which) =>
      within(context, box, () =>
        points.forEach((point, i) => {
          if (isBeside[i] !== which || !shown.has(point.series)) return;
          drawPoint(context, point, placeOf(i, frame), i === state.hit);
        }),
      );
    all(chart, false);
    if (hasStrip) all(stripOf(frame), true);
  }

  function within(context, frame, paint) {
    context.save();
    context.beginPath();
    context.rect(frame.left, frame.top - 14, frame.width, frame.height + 15);
    context.clip();
    paint();
    context.restore();
  }

  // The scale of the strip and its roof.
  function drawStrip(context, box) {
    const y = upStrip(box);
    valuesLeft(context, box, ticks(...own, strip.label), y);
    baseLine(context, box);
    context.fillText(strip.name, box.left + box.width / 2, box.bottom + 13);
    context.strokeStyle = colour("faint");
    context.lineWidth = 1.4;
    context.beginPath();
    context.moveTo(box.left, y(strip.top));
    context.lineTo(box.right, y(strip.top));
    context.stroke();
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

  function drawPoint(context, { series: s, area, isHollow }, [x, y], isHit) {
    context.beginPath();
    context.arc(x, y, radius(area), 0, 2 * Math.PI);
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
    const shown = new Set(inSight(series, state));
    let [best, least] = [null, NEAR];
    points.forEach((point, i) => {
      if (!shown.has(point.series)) return;
      const [x, y] = placeOf(i, frame);
      const distance = Math.hypot(x - px, y - py) - radius(point.area);
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
    const room = (from, to, text) => Math.ceil(widest(context, powers(from, to).map(text))) + 14;
    gap = room(low, high, yLabel) + 6;
    const before = hasStrip ? room(...own, strip.label) : gap;
    return { left: before, right: 18, top: 20, bottom: BELOW };
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
    place: placeOf,
  });
}

/** Width of the strip, in pixels. */
const STRIP = 84;

// The room between the outermost value and the edge, in powers of ten.
const ROOM = 0.1;

// How far from a point the pointer may be, in pixels.
const NEAR = 8;

const radius = (area) => 3 + 17 * Math.sqrt(Math.min(Math.max(area, 0), 1));

// The powers of ten around all values, as exponents, with room for circles.
function decades(values) {
  const logs = values.filter((v) => v > 0 && Number.isFinite(v)).map((v) => Math.log10(v));
  if (!logs.length) return [0, 1];
  const from = Math.floor(logs.reduce((a, b) => Math.min(a, b)) - ROOM);
  const to = Math.ceil(logs.reduce((a, b) => Math.max(a, b)) + ROOM);
  return [from, Math.max(to, from + 1)];
}

function powers(from, to) {
  const values = [];
  for (let power = from; power <= to; power += 1) values.push(10 ** power);
  return values;
}
