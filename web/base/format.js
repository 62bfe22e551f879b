// Values for people: three significant digits and a unit. The exact value is in tooltips and in
// CSV.
export const NONE = "–";

export function digits(number, significant = 3) {
  if (number === 0) return "0";
  const whole = Math.floor(Math.log10(Math.abs(number))) + 1;
  const decimals = Math.min(Math.max(significant - whole, 0), 6);
  return Number.isInteger(number) && whole > 0
    ? grouped(number)
    : number.toLocaleString("en-US", {
        minimumFractionDigits: decimals,
        maximumFractionDigits: decimals,
      });
}

// Whole numbers beyond what a number can hold come as texts.
export function grouped(whole) {
  return (typeof whole === "string" ? BigInt(whole) : whole).toLocaleString("en-US");
}

// A number of things in words; the word takes an s unless it is one.
export const many = (number, word) =>
  `${grouped(number)} ${word}${Number(number) === 1 ? "" : "s"}`;

function scaled(value, units) {
  const number = Number(value);
  const [size, unit] =
    units.find(([size]) => Math.abs(number) >= size * 0.9995) || units[units.length - 1];
  return `${digits(size === 1 ? number : number / size)} ${unit}`;
}

export const ns = (value) =>
  scaled(value, [
    [1e9, "s"],
    [1e6, "ms"],
    [1e3, "µs"],
    [1, "ns"],
  ]);
export const bytes = (value) =>
  scaled(value, [
    [2 ** 40, "TiB"],
    [2 ** 30, "GiB"],
    [2 ** 20, "MiB"],
    [2 ** 10, "KiB"],
    [1, "B"],
  ]);
export const pct = (value) => `${Number(value).toFixed(1)} %`;

// A value of a column with this unit.
export function human(value, unit) {
  if (value === null || value === undefined) return NONE;
  switch (unit) {
    case "ns":
      return ns(value);
    case "bytes":
      return bytes(value);
    case "pct":
      return pct(value);
    case "GB/s":
      return `${digits(Number(value))} GB/s`;
    case "flag":
      return value ? "yes" : "no";
    case "count":
      return Number.isInteger(value) || typeof value === "string" ? grouped(value) : digits(value);
    case "number":
      return digits(Number(value));
    default:
      return String(value);
  }
}

// The exact value with its unit.
export function exact(value, unit) {
  if (value === null || value === undefined) return "not recorded";
  if (unit === "ns" || unit === "bytes")
    return Number.isInteger(value) || typeof value === "string"
      ? `${grouped(value)} ${unit}`
      : `${value} ${unit}`;
  if (unit === "pct") return `${value} %`;
  return human(value, unit);
}

/**
 * The date of an instant in nanoseconds since `base`, which is Unix time; null if the result is not
 * within this century, because the clock of the trace then counts from something else.
 */
export function dateOf(value, base) {
  if (value === null || value === undefined) return null;
  const whole = BigInt(value) + BigInt(base);
  const date = new Date(Number(whole / 1_000_000n));
  const year = Number.isNaN(date.getTime()) ? 0 : date.getUTCFullYear();
  if (whole < 0n || year < 2001 || year > 2100) return null;
  const fraction = String(whole % 1_000_000_000n).padStart(9, "0");
  return `${date.toISOString().slice(0, 19).replace("T", " ")}.${fraction} UTC`;
}

const TITLES = {
  op_name: "Operator",
  module_path: "Module",
  at_ns: "Start",
  peak_at_ns: "After",
  cpu_exec_ns: "Operators",
  dataloader_ns: "Data loading",
  kernel_ns: "Kernels",
  memcpy_ns: "Copies",
  memset_ns: "Fills",
  runtime_ns: "Runtime calls",
  matrix_unit: "Tensor or matrix cores",
  matrix_unit_ns: "On tensor or matrix cores",
  matrix_unit_unclear_ns: "Unclear whether on them",
  names: "Different names",
  busy_ns: "Busy",
  tensor_core_eligible: "Tensor core eligible",
};

// The title of a column: its name in words, without the unit.
export function words(name) {
  if (TITLES[name]) return TITLES[name];
  const text = name
    .replace(/_(ns|bytes|pct|gb_s)$/, (_, unit) => ({ pct: " %", gb_s: " rate" })[unit] || "")
    .replace(/_/g, " ");
  return (text.charAt(0).toUpperCase() + text.slice(1)).replace(
    /\b(gpu|cpu|sm|id|sql)\b/gi,
    (word) => word.toUpperCase(),
  );
}
