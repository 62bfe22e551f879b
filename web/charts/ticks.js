// Round values along an axis, and their labels. All labels of an axis have one unit and as many
// decimals as its steps need.

const TIME_UNITS = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
  [1, "ns"],
];
const BYTE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/** { values, label(value), end }: the last value, `end`, is the first one that is at least `to`. */
function spread(from, to, step, label) {
  const first = Math.ceil(from / step - 1e-9);
  const last = Math.ceil(to / step - 1e-9);
  const values = [];
  for (let i = first; i <= last; i += 1) values.push(i * step);
  return { values, label, end: last * step };
}

// The smallest of 1, 2, 5 times a power of ten that is at least `rough`.
function roundStep(rough) {
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].find((by) => by * power >= rough * 0.999) * power;
}

/** Ticks of times in nanoseconds, about `count` of them. */
export function timeTicks(from, to, count) {
  const step = Math.max(1, roundStep((to - from) / Math.max(count, 1) || 1));
  const [size, unit] = TIME_UNITS.find(([size]) => to >= size) || [1, "ns"];
  const decimals = Math.max(0, Math.ceil(Math.log10(size / step) - 1e-9));
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  const label = (value) =>
    value === 0 ? "0" : `${(value / size).toLocaleString("en-US", digits)} ${unit}`;
  return spread(from, to, step, label);
}

/** Ticks of shares in percent, from 0 to 100. */
export function percentTicks(from, to, count) {
  const step = [10, 20, 25, 50].find((by) => 100 / by <= Math.max(count, 2)) || 50;
  return spread(0, 100, step, (value) => `${value} %`);
}

/** Ticks of sizes in bytes: whole powers of two lie between them. */
export function byteTicks(from, to, count) {
  const step = 2 ** Math.max(0, Math.ceil(Math.log2((to - from) / Math.max(count, 1) || 1)));
  const label = (value) => {
    if (value === 0) return "0";
    const power = Math.min(Math.floor(Math.log2(value) / 10), BYTE_UNITS.length - 1);
    return `${(value / 1024 ** power).toLocaleString("en-US")} ${BYTE_UNITS[power]}`;
  };
  return spread(from, to, step, label);
}
