// Stacks of values: what the bars of a chart add up to, and how they are filled.
import { paintOf } from "./theme.js";

/** The numbers of the series that the legend does not hide. */
export function inSight(series, { hidden }) {
  return series.map((_, i) => i).filter((i) => !hidden.has(i));
}

/**
 * A function of the state of a chart that gives { sums, most }: what each bar adds up to with the
 * series in sight, and the greatest of these. It adds up again only when the legend changed.
 */
export function stackSums(series, count) {
  let known = null;
  let key = null;
  return (state) => {
    const shown = inSight(series, state);
    if (key === shown.join()) return known;
    key = shown.join();
    const sums = new Float64Array(count);
    for (const s of shown) for (let i = 0; i < count; i += 1) sums[i] += series[s].values[i] || 0;
    known = { sums, most: sums.reduce((most, sum) => Math.max(most, sum), 0) || 1 };
    return known;
  };
}

/**
 * Fills the parts of some bars, series by series. `scale` is pixels for each unit; `part(bar, from,
 * to)` adds a rectangle to the path, between whole pixels along the bar.
 */
export function fillStacks(context, series, state, bars, scale, part) {
  // A value that is not zero has a pixel, so that no bar goes unseen.
  const pixels = (value) => (value > 0 ? Math.max(1, Math.round(value * scale)) : 0);
  const ends = new Float64Array(bars.length);
  for (const s of inSight(series, state)) {
    context.beginPath();
    bars.forEach((bar, i) => {
      const from = ends[i];
      ends[i] += series[s].values[bar] || 0;
      const [start, end] = [pixels(from), pixels(ends[i])];
      if (end > start) part(bar, start, end);
    });
    context.fillStyle = paintOf(context, series[s]);
    context.fill();
  }
}

/** Of the bars from `first` to `last`, the greatest of each pixel; `band` is the width of a bar. */
export function greatestOfPixels(sums, first, last, band) {
  const kept = [];
  let pixel = -1;
  for (let bar = first; bar < last; bar += 1) {
    const at = Math.floor((bar - first) * band);
    if (at !== pixel) kept.push(bar);
    else if (sums[bar] > sums[kept[kept.length - 1]]) kept[kept.length - 1] = bar;
    pixel = at;
  }
  return kept;
}
