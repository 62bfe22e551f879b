// The charts of this page: rows of sections as bars and lines.
import { bytes, exact, ns, pct } from "../../../../web/base/format.js";
import { stackedBars } from "../../../../web/charts/bars.js";
import { stepLines } from "../../../../web/charts/lines.js";
import { byteTicks, percentTicks, timeTicks } from "../../../../web/charts/ticks.js";
import { tooltipContent } from "../../../../web/charts/tooltip.js";
import { classPaint } from "./class_colours.js";

// Stacked bars { name, title, row } of parts [column, label, custom property]. Parts that are zero
// in all bars are left out.
export function partBars(bars, parts, total, label) {
  return bandsOf(bars, parts, total, label, false);
}

// The same in percent of the total of each bar.
export function shareBars(bars, parts, total, label) {
  return bandsOf(bars, parts, total, label, true);
}

function bandsOf(bars, parts, total, label, isShare) {
  const shown = parts.filter(([column]) => bars.some((b) => b.row[column] > 0));
  const valuesOf = ({ row }) => {
    const share = ([column]) => [column, (100 * row[column]) / row[total] || 0];
    return isShare ? Object.fromEntries(shown.map(share)) : row;
  };
  const series = seriesOf(shown, bars.map(valuesOf));
  const describe = (i, inSight) => {
    const { row, title } = bars[i];
    const share = (column) => pct((100 * row[column]) / row[total] || 0);
    const lines = inSight.map((s) => {
      const [column, name, tint] = shown[s];
      return [tint, name, `${ns(row[column])} · ${share(column)}`];
    });
    return tooltipContent(title, [...lines, [null, "total", exact(row[total], "ns")]]);
  };
  return stackedBars({
    names: bars.map((b) => b.name),
    series,
    ticks: isShare ? percentTicks : timeTicks,
    describe,
    label,
  });
}

// Series of a chart for parts [column, label, custom property] of rows.
export function seriesOf(parts, list) {
  return parts.map(([column, name, tint]) => ({
    name,
    tint,
    paint: tint === "class-unclassified" ? classPaint("unclassified") : `var(--${tint})`,
    isHatched: tint === "class-unclassified",
    values: Float64Array.from(list, (row) => Number(row[column]) || 0),
  }));
}

// Memory over time: a line for each of { name, tint, isDashed, points of [ns, bytes] }. `peak`
// is the row with the peak of the first line, which has a mark.
export function memoryLines(lines, end, peak) {
  const describe = (x, values) =>
    tooltipContent(
      `after ${ns(x)}`,
      values.map(([s, value]) => [lines[s].tint, lines[s].name, bytes(value)]),
    );
  const { peak_at_ns: x, peak_allocated_bytes: y } = peak;
  return stepLines({
    series: lines.map((l) => ({ ...l, paint: `var(--${l.tint})` })),
    end,
    marks: [{ series: 0, x, y, text: bytes(y) }],
    xTicks: timeTicks,
    yTicks: byteTicks,
    describe,
    label: "memory over time",
  });
}
