// Ticks of axes whose values are any numbers, negative ones too.
const TIMES = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
  [1, "ns"],
];
const SIZES = [
  [2 ** 40, "TiB"],
  [2 ** 30, "GiB"],
  [2 ** 20, "MiB"],
  [2 ** 10, "KiB"],
  [1, "B"],
];

// The smallest of 1, 2, 5 times a power of ten that is at least `rough`.
function roundStep(rough) {
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].find((by) => by * power >= rough * 0.999) * power;
}

/**
 * Ticks from `from` to `to`, about `count` of them, in the unit of a column: { values,
 * label(value), start, end }. `start` and `end` are round values around all.
 */
export function unitTicks(unit, from, to, count) {
  const size = Math.max(Math.abs(from), Math.abs(to));
  const scales = { ns: TIMES, bytes: SIZES }[unit];
  const [scale, name] = (scales || []).find(([s]) => size >= s) || [1, unit === "ns" ? "ns" : ""];
  const span = (to - from) / scale || 1;
  const step = roundStep(span / Math.max(count, 1));
  const [first, last] = [
    Math.floor(from / scale / step + 1e-9),
    Math.ceil(to / scale / step - 1e-9),
  ];
  const values = [];
  for (let i = first; i <= Math.max(last, first + 1); i += 1) values.push(i * step * scale);
  const decimals = Math.min(12, Math.max(0, Math.ceil(-Math.log10(step) - 1e-9)));
  const after = name || { pct: "%" }[unit] || "";
  const label = (value) => {
    if (value === 0) return "0";
    return `${labelOf(value / scale, decimals)}${after ? ` ${after}` : ""}`;
  };
  return { values, label, start: values[0], end: values[values.length - 1] };
}

function labelOf(number, decimals) {
  if (Math.abs(number) >= 1e15 || decimals > 6) return String(Number(number.toExponential(3)));
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  return number.toLocaleString("en-US", digits);
}
