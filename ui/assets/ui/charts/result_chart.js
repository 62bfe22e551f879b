// A chart of the rows of a result: its kind and its columns are choices.
import { el } from "../../web/base/elements.js";
import { many } from "../../web/base/format.js";
import { stackedBars } from "../../web/charts/bars.js";
import { lyingBars } from "../../web/charts/lying_bars.js";
import { tooltipContent } from "../../web/charts/tooltip.js";
import { visible } from "../base/text.js";
import { exactValue, isInstant, shown } from "../parts/values.js";
import { histogram } from "./histogram.js";
import { unitTicks } from "./number_ticks.js";
import { TINTS, groupsOf, numberOf, numericColumns, shifted, suggestion } from "./series.js";
import { xyChart } from "./xy.js";

const KINDS = { bar: "Bars", line: "Line", step: "Step line", scatter: "Points" };
/** Bars that lie below each other have room for names; more of them stand upright. */
const MAX_LYING = 40;

/**
 * The panel of a chart, as { element, draw() }. `rows()` are the rows in sight, `chosen` is { kind,
 * x, y, by } from the address or {}, and `change(choice)` is called when the reader chooses.
 */
export function resultChart(columns, rows, chosen, change) {
  const names = columns.map((c) => c.name);
  const choice = { ...suggestion(columns), ...known(chosen, names) };
  const box = el("div", { class: "chart-place" });
  const numbers = numericColumns(columns).map((c) => c.name);
  if (!numbers.length)
    return { element: el("p", { class: "quiet" }, "No column holds numbers."), draw() {} };
  if (!numbers.includes(choice.y)) choice.y = numbers[0];

  const select = (key, label, options) => {
    const list = options.map(([value, text]) =>
      el("option", { value, selected: value === (choice[key] || "") }, visible(text, 60)),
    );
    const made = el("select", { onchange: () => take(key, made.value) }, list);
    return el("label", { class: "option" }, label, made);
  };
  const same = (list) => list.map((name) => [name, name]);
  const kinds = [...Object.entries(KINDS), ["histogram", "Histogram"]];
  const tools = el("div", { class: "chart-tools" });

  function take(key, value) {
    choice[key] = value || null;
    change({ ...choice });
    draw();
  }

  function drawTools() {
    const isHistogram = choice.kind === "histogram";
    const across = choice.kind === "bar" ? names : numbers;
    if (!across.includes(choice.x)) choice.x = across[0];
    tools.replaceChildren(
      select("kind", "Chart", kinds),
      ...(isHistogram ? [] : [select("x", "Across", same(across))]),
      select("y", isHistogram ? "Values" : "Up", same(numbers)),
      ...(isHistogram ? [] : [select("by", "Colour", [["", "none"], ...same(names)])]),
    );
  }

  function draw() {
    drawTools();
    const at = (name) => (name ? names.indexOf(name) : null);
    const data = { columns, rows: rows(), x: at(choice.x), y: at(choice.y), by: at(choice.by) };
    const make = { bar: bars, histogram: oneHistogram }[choice.kind] || points;
    box.replaceChildren(...make(data, choice.kind).filter(Boolean));
  }

  return { element: el("div", { class: "result-chart" }, tools, box), draw };
}

function known(chosen, names) {
  const isKnown = ([key, value]) =>
    key === "kind" ? value in KINDS || value === "histogram" : names.includes(value);
  return Object.fromEntries(Object.entries(chosen).filter(([k, v]) => v && isKnown([k, v])));
}

const seriesOf = (name, i) => ({
  name: visible(name, 60),
  tint: TINTS[i % TINTS.length],
  paint: `var(--${TINTS[i % TINTS.length]})`,
});

const note = (text) => (text ? el("p", { class: "quiet small" }, text) : null);

// A bar for each different value across; rows of one value add up.
function bars({ columns, rows, x, y, by }) {
  const groups = groupsOf(rows, by);
  const keys = [...new Set(rows.map((row) => keyOf(row[x])))];
  const places = new Map(keys.map((key, i) => [key, i]));
  let negative = 0;
  const series = groups.map(([name, own], i) => {
    const values = new Array(keys.length).fill(0);
    for (const row of own) {
      const value = numberOf(row[y]) ?? 0;
      if (value < 0) negative += 1;
      values[places.get(keyOf(row[x]))] += Math.max(0, value);
    }
    return { ...seriesOf(by === null ? columns[y].name : name, i), values };
  });
  const labels = keys.map((key) => (key === null ? "NULL" : shown(key, columns[x])));
  const unit = columns[y].unit;
  const describe = (bar, inSight) =>
    tooltipContent(
      visible(labels[bar], 300),
      inSight
        .filter((s) => series[s].values[bar] > 0)
        .map((s) => [
          series[s].tint,
          series[s].name,
          exactValue(series[s].values[bar], columns[y]),
        ]),
    );
  const ticks = (from, to, count) => unitTicks(unit, from, to, count);
  const label = `${columns[y].name} by ${columns[x].name}, ${many(keys.length, "bar")}`;
  const legend = by === null ? series.map((s) => ({ ...s, isAlone: true })) : series;
  const make =
    keys.length <= MAX_LYING && labels.some((l) => l.length > 6) ? lyingBars : stackedBars;
  const left = negative ? `${many(negative, "negative value")} cannot be a bar; take points.` : "";
  return [make({ names: labels, series: legend, ticks, describe, label }), note(left)];
}

const keyOf = (value) => (value === undefined ? null : value);

function points({ columns, rows, x, y, by }, kind) {
  const across = shifted(rows, x);
  const start = isInstant(columns[x]) ? startOf(rows, x, across) : 0;
  const groups = groupsOf(rows, by);
  let none = 0;
  const series = groups.map(([name, own], i) => {
    const list = own.flatMap((row) => {
      const [px, py] = [across.of(row), numberOf(row[y])];
      if (px !== null && py !== null) return [[px - start, py, row]];
      none += 1;
      return [];
    });
    list.sort((a, b) => a[0] - b[0]);
    return { ...seriesOf(name || columns[y].name, i), points: list };
  });
  const named = columns.findIndex((c) => c.name === "name");
  const titleOf = (s, row) =>
    named < 0 || row[named] === null ? series[s].name : visible(row[named], 300);
  const describe = (s, [, , row]) =>
    tooltipContent(titleOf(s, row), [
      [null, visible(columns[x].name, 60), exactValue(row[x], columns[x])],
      [series[s].tint, visible(columns[y].name, 60), exactValue(row[y], columns[y])],
    ]);
  const texts = [];
  if (start || across.base) texts.push(`Across: since ${firstOf(rows, x, columns[x])}.`);
  if (none) texts.push(`${many(none, "row")} without a number.`);
  const label = `${columns[y].name} over ${columns[x].name}, ${many(rows.length, "row")}`;
  const [xUnit, yUnit] = [columns[x].unit || unitByName(columns[x]), columns[y].unit];
  return [xyChart({ kind, series, xUnit, yUnit, describe, label }), note(texts.join(" "))];
}

const unitByName = (column) => (isInstant(column) ? "ns" : "");

// Points in time are shown since the first one.
function startOf(rows, x, across) {
  const numbers = rows.map(across.of).filter((value) => value !== null);
  return numbers.length ? numbers.reduce((a, b) => Math.min(a, b)) : 0;
}

function firstOf(rows, x, column) {
  const values = rows.map((row) => row[x]).filter((value) => value !== null);
  const isLess = (a, b) => {
    if (/^-?\d+$/.test(String(a)) && /^-?\d+$/.test(String(b))) return BigInt(a) < BigInt(b);
    return Number(a) < Number(b);
  };
  return exactValue(
    values.reduce((a, b) => (isLess(b, a) ? b : a)),
    column,
  );
}

function oneHistogram({ columns, rows, y }) {
  const { base, of } = shifted(rows, y);
  const values = rows.map(of).filter((value) => value !== null);
  const left = rows.length - values.length;
  const texts = left ? [`${many(left, "row")} without a number.`] : [];
  if (base) texts.push(`Values less ${base}.`);
  if (!values.length) return [note("No row has a number there.")];
  const series = seriesOf(columns[y].name, 0);
  const label = `histogram of ${columns[y].name}`;
  return [histogram({ values, unit: columns[y].unit, series, label }), note(texts.join(" "))];
}
