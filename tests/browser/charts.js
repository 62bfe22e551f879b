// Charts with 100,000 points each, as the test `charts.py` drives them. The modules are imported as
// they are, which a page of a local server does too.
import { el } from "/web/base/elements.js";
import { stackedBars } from "/web/charts/bars.js";
import { heatMap } from "/web/charts/heat_map.js";
import { lastAtMost, stepLines } from "/web/charts/lines.js";
import { greatestOfPixels } from "/web/charts/stack.js";
import { byteTicks, timeTicks } from "/web/charts/ticks.js";
import { tooltipContent } from "/web/charts/tooltip.js";

const COUNT = 100_000;
const ROWS = 100;
const COLUMNS = COUNT / ROWS;
const wave = (i) => 1000 + Math.round(900 * Math.sin(i / 700) + 99 * Math.sin(i * 1.7));

const numbers = Array.from({ length: COUNT }, (_, i) => i);
const series = (name, tint, more) => ({ name, tint, paint: `var(--${tint})`, ...more });

const bars = stackedBars({
  names: numbers.map(String),
  series: [
    series("kernels", "compute", { values: Float64Array.from(numbers, wave) }),
    series("copies", "copy", { values: Float64Array.from(numbers, (i) => i % 500) }),
  ],
  ticks: timeTicks,
  describe: (i) => tooltipContent(`bar ${i}`, [["compute", "kernels", String(wave(i))]]),
  label: "bars",
});

const lines = stepLines({
  series: [series("allocated", "compute", { points: numbers.map((i) => [i * 1000, wave(i)]) })],
  end: COUNT * 1000,
  marks: [],
  xTicks: timeTicks,
  yTicks: byteTicks,
  describe: (x, [[, value]]) => tooltipContent(`at ${x}`, [["compute", "bytes", String(value)]]),
  label: "lines",
});

const share = (row, column) => ((row * 7 + column) % 101) / 100;
const map = heatMap({
  names: Array.from({ length: ROWS }, (_, row) => `rank ${row}`),
  columns: COLUMNS,
  values: Array.from({ length: ROWS }, (_, row) =>
    Float64Array.from({ length: COLUMNS }, (_, column) => share(row, column)),
  ),
  tint: "compute",
  end: 5e9,
  ticks: timeTicks,
  describe: (row, column) =>
    tooltipContent(`rank ${row}`, [["compute", `column ${column}`, String(share(row, column))]]),
  label: "map",
});

document.body.append(el("div", { width: "1200px" }, bars, lines, map));

// What the test asks about parts that draw nothing.
window.parts = { byteTicks, greatestOfPixels, lastAtMost, share, timeTicks, wave };
window.isReady = true;
