// From rows of a result to what charts draw. Charts are of the rows shown.
import { isNumber } from "../parts/values.js";

/** Colours of series, as custom properties; further series are put together as "others". */
export const TINTS = ["compute", "comm", "host", "copy", "data", "runtime", "fill", "low"];

/** Columns with numbers that can be an axis. */
export function numericColumns(columns) {
  return columns.filter(isNumber);
}

/** The value of a cell as a number, or null. */
export function numberOf(value) {
  if (value === null || value === undefined || value === "") return null;
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
}

/**
 * A function that gives the values of a column as numbers near 0, and what was taken away: whole
 * numbers beyond 2^53 and points in time keep their differences exactly.
 */
export function shifted(rows, at) {
  const isLarge = rows.some((row) => typeof row[at] === "string" && /^-?\d+$/.test(row[at]));
  if (!isLarge) return { base: 0n, of: (row) => numberOf(row[at]) };
  const wholes = rows.map((row) => row[at]).filter((v) => v !== null && /^-?\d+$/.test(String(v)));
  const base = wholes.map(BigInt).reduce((a, b) => (b < a ? b : a));
  const of = (row) => (row[at] === null ? null : Number(BigInt(row[at]) - base));
  return { base, of };
}

/** Groups of rows by a column: [[name, rows]], the largest first, further ones as "others". */
export function groupsOf(rows, at) {
  if (at === null) return [["", rows]];
  const groups = new Map();
  for (const row of rows) {
    const name = row[at] === null ? "NULL" : String(row[at]);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(row);
  }
  const list = [...groups].sort((a, b) => b[1].length - a[1].length);
  if (list.length <= TINTS.length) return list;
  const others = list.slice(TINTS.length - 1).flatMap(([, own]) => own);
  return [...list.slice(0, TINTS.length - 1), ["others", others]];
}

/** A kind of chart and its columns that suit a result: { kind, x, y, by } with names or null. */
export function suggestion(columns) {
  const numbers = numericColumns(columns).map((c) => c.name);
  const texts = columns.filter((c) => !isNumber(c) && c.name !== "trace_id").map((c) => c.name);
  const time = numbers.find((n) => /^(ts|start|at)_ns$/.test(n));
  const step = numbers.find((n) => n === "step");
  const isId = (n) => /(^|_)(id|rank|device|stream|step)$/.test(n);
  const values = numbers.filter((n) => n !== time && !isId(n));
  const value = values.find((n) => /_ns$|_bytes$|value$/.test(n)) || values[0] || numbers[0];
  if (time && value) return { kind: "scatter", x: time, y: value, by: null };
  if (step && value) return { kind: "bar", x: step, y: value, by: null };
  if (texts.length && value) return { kind: "bar", x: texts[0], y: value, by: null };
  if (values.length > 1) return { kind: "scatter", x: values[0], y: values[1], by: null };
  return { kind: "histogram", x: numbers[0], y: numbers[0], by: null };
}
