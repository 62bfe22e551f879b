// Values of results: a short form for people and the exact one. Whole numbers beyond 2^53 are texts
// and stay exact.
import { digits, grouped, human } from "../../web/base/format.js";
import { visible } from "../base/text.js";

const NUMBER = /^(u?(tiny|small|big|huge)?int|integer|int\d|uint\d|double|float|real|decimal)/i;
const WHOLE = /^(u?(tiny|small|big|huge)?int|integer|int\d|uint\d)/i;

// Points in time: three digits of them would say nothing.
const INSTANT = /(^|_)(ts|start|end|at|first|last)_ns$/;

// Differences have a sign.
const DIFFERENCE = /(^|_)(delta|difference)(_|$)/;

/** Whether the values of a column are numbers. */
export function isNumber({ type }) {
  return NUMBER.test(type || "");
}

/** Whether the values of a column are whole numbers. */
export function isWhole({ type }) {
  return WHOLE.test(type || "");
}

/** Whether the values of a column are points in time, in nanoseconds. */
export function isInstant({ name, unit }) {
  return (unit === "ns" || !unit) && INSTANT.test(name);
}

function number(value, column) {
  const { unit } = column;
  if (!Number.isFinite(Number(value))) return String(value);
  if (unit === "id" || (!unit && isWhole(column) && !isInstant(column))) return String(value);
  if (isInstant(column)) return isWholeValue(value) ? grouped(value) : String(value);
  if (unit === "us") return `${digits(Number(value))} µs`;
  // Decimals may be texts too.
  if (unit === "flop" || unit === "count")
    return human(isWholeValue(value) ? value : Number(value), "count");
  if (unit === "TFLOP/s" || unit === "GB/s") return `${digits(Number(value))} ${unit}`;
  if (["ns", "bytes", "pct", "flag"].includes(unit)) return human(value, unit);
  const size = Number(value);
  if (isWholeValue(value)) return String(value);
  return Number(size.toPrecision(6)).toString();
}

const isWholeValue = (value) =>
  typeof value === "number" ? Number.isInteger(value) : /^-?\d+$/.test(value);

/** The short form of a value, on one line. */
export function shown(value, column) {
  if (value === null || value === undefined) return "NULL";
  if (typeof value === "boolean") return value ? "true" : "false";
  if (typeof value === "object") return visible(JSON.stringify(value), 500);
  if (!isNumber(column)) return visible(value, 500);
  const text = number(value, column);
  return DIFFERENCE.test(column.name) && Number(value) > 0 ? `+${text}` : text;
}

/** The exact value as text, without a unit: what CSV holds. */
export function exactText(value) {
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** The exact value with its unit, for tooltips and records. */
export function exactValue(value, column) {
  if (value === null || value === undefined) return "NULL";
  if (!isNumber(column)) return visible(exactText(value), 1000);
  const text = isWholeValue(value) && column.unit !== "id" ? grouped(value) : String(value);
  const unit = { pct: "%", us: "µs" }[column.unit] || column.unit;
  return unit && !["id", "count", "number", "flag", "text", "ratio"].includes(unit)
    ? `${text} ${unit}`
    : text;
}

/** Compares two values of a column for sorting upwards; NULL comes last in both directions. */
export function compareValues(a, b, sign) {
  const [noA, noB] = [a === null || a === undefined, b === null || b === undefined];
  if (noA || noB) return noA - noB;
  if (typeof a === "number" && typeof b === "number") return sign * (a - b);
  return sign * order(a, b);
}

// Whole numbers beyond 2^53 are texts next to numbers.
function order(a, b) {
  if (isMixed(a, b)) {
    const [x, y] = [BigInt(a), BigInt(b)];
    return x < y ? -1 : x > y ? 1 : 0;
  }
  const [x, y] = [exactText(a), exactText(b)];
  return x < y ? -1 : x > y ? 1 : 0;
}

const isDigits = (value) => typeof value === "number" || /^-?\d{1,40}$/.test(value);
const isMixed = (a, b) =>
  isDigits(a) && isDigits(b) && [a, b].every((v) => typeof v !== "number" || Number.isInteger(v));
