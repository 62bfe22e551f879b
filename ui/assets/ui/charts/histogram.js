// A histogram of the values of a column: bars of equal width between round numbers.
import { many } from "../../web/base/format.js";
import { stackedBars } from "../../web/charts/bars.js";
import { tooltipContent } from "../../web/charts/tooltip.js";
import { unitTicks } from "./number_ticks.js";

const BINS = 40;

/**
 * A histogram, as an element. `values` are numbers, `unit` is theirs, and `series` gives the name
 * and the colour.
 */
export function histogram({ values, unit, series, label }) {
  const { edges, counts, names } = bins(values, unit);
  const describe = (bar) =>
    tooltipContent(`${names.label(edges[bar])} to ${names.label(edges[bar + 1])}`, [
      [series.tint, "Rows", many(counts[bar], "row")],
    ]);
  return stackedBars({
    names: counts.map((_, bar) => names.label(edges[bar])),
    series: [{ ...series, values: counts }],
    ticks: (from, to, count) => unitTicks("count", from, to, count),
    describe,
    label,
  });
}

// The bins lie between round values, and each value is in one of them.
function bins(values, unit) {
  const least = values.reduce((a, b) => Math.min(a, b), Infinity);
  const most = values.reduce((a, b) => Math.max(a, b), -Infinity);
  const ticks = unitTicks(unit, least, most, Math.min(BINS, Math.max(4, values.length / 2)));
  const edges = ticks.values;
  const counts = new Array(edges.length - 1).fill(0);
  const step = edges[1] - edges[0];
  for (const value of values) {
    const bin = Math.floor((value - edges[0]) / step + 1e-9);
    counts[Math.min(Math.max(bin, 0), counts.length - 1)] += 1;
  }
  return { edges, counts, names: ticks };
}
