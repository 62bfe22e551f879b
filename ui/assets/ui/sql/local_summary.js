// The summary of a column from the rows that the page holds, for results that are whole. It has the
// form of the answer of POST /api/summary.
import { compareValues, exactText, isNumber } from "../parts/values.js";

const BUCKETS = 20;
const VALUES = 10;
const SHARES = [0.05, 0.25, 0.5, 0.75, 0.95];

/** The summary of the column with the number `at` of rows. */
export function summaryOf(column, rows, at) {
  const present = rows.map((row) => row[at]).filter((v) => v !== null && v !== undefined);
  const counts = new Map();
  for (const value of present) {
    const text = exactText(value);
    counts.set(text, (counts.get(text) || 0) + 1);
  }
  const common = { count: rows.length, nulls: rows.length - present.length, distinct: counts.size };
  if (!isNumber(column)) return { ...common, values: frequent(counts) };
  const sorted = present.slice().sort((a, b) => compareValues(a, b, 1));
  const [min, max] = [sorted[0] ?? null, sorted.at(-1) ?? null];
  const quantile = (share) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
  const quantiles = sorted.length ? SHARES.map(quantile) : null;
  return { ...common, min, max, quantiles, buckets: buckets(sorted, Number(min), Number(max)) };
}

function frequent(counts) {
  const list = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  return list.slice(0, VALUES);
}

function buckets(sorted, min, max) {
  const width = (max - min) / BUCKETS;
  if (!(width > 0) || !Number.isFinite(width)) return null;
  const found = Array.from({ length: BUCKETS }, (_, i) => [min + i * width, min + (i + 1) * width, 0]);
  found.at(-1)[1] = max;
  for (const value of sorted)
    found[Math.min(BUCKETS - 1, Math.floor((Number(value) - min) / width))][2] += 1;
  return found;
}
