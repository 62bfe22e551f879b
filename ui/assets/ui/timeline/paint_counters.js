// Paints counters as step lines: a value holds until the next one. Of several values in a bucket,
// a vertical line shows the smallest and the largest.
import { colour } from "../../web/charts/theme.js";
import { firstAbove } from "./blocks.js";

export const SERIES_TINTS = ["compute", "comm", "host", "copy", "data", "runtime", "fill"];

/** The colour of a series as the name of a custom property. */
export const seriesTint = (number) => SERIES_TINTS[number % SERIES_TINTS.length];

/** Widens [low, high] of a counter by the values of a block; true if it changed. */
export function widen(range, block) {
  let isWider = false;
  for (const series of block.series)
    for (let i = 0; i < series.at.length; i += 1) {
      if (series.max[i] > range.high) [range.high, isWider] = [series.max[i], true];
      if (series.min[i] < range.low) [range.low, isWider] = [series.min[i], true];
    }
  return isWider;
}

/** The place in a series of the value that holds at `time`, or -1. */
export const indexAt = (series, time) => firstAbove(series.at, time, 0, series.at.length) - 1;

/** Paints all series of a block into `width` × `height` pixels from `top` on. */
export function paintCounters(context, block, { origin, scale, width, height, top = 0 }, range) {
  const size = range.high - range.low || 1;
  const y = (value) => top + height - ((value - range.low) / size) * (height - 2) - 1;
  const place = { origin, scale, width, y, base: y(Math.max(range.low, Math.min(0, range.high))) };
  block.series.forEach((series, number) => {
    context.strokeStyle = colour(seriesTint(number));
    context.fillStyle = context.strokeStyle;
    paintSeries(context, series, place, block.series.length === 1, block.to);
  });
}

function paintSeries(context, series, { origin, scale, width, y, base }, isFilled, until) {
  const first = Math.max(0, indexAt(series, origin));
  const end = origin + width / scale;
  const x = (time) => Math.min(width + 2, Math.max(-2, (time - origin) * scale));
  const line = new Path2D();
  const area = new Path2D();
  let isBegun = false;
  for (let i = first; i < series.at.length && series.at[i] <= end; i += 1) {
    const left = x(series.at[i]);
    const right = x(i + 1 < series.at.length ? series.at[i + 1] : until);
    const [low, high, last] = [series.min[i], series.max[i], series.last[i]];
    if (isBegun) line.lineTo(left, y(last));
    else line.moveTo(left, y(last));
    isBegun = true;
    if (low !== high) {
      line.moveTo(left, y(low));
      line.lineTo(left, y(high));
      line.moveTo(left, y(last));
    }
    line.lineTo(right, y(last));
    area.rect(left, Math.min(y(last), base), right - left, Math.abs(base - y(last)));
  }
  if (isFilled) {
    context.globalAlpha = 0.22;
    context.fill(area);
    context.globalAlpha = 1;
  }
  context.lineWidth = 1;
  context.stroke(line);
}
