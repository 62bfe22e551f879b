// Classes of device work: their order and colours, which are the same everywhere on the page.
import { el, swatch } from "../../../../web/base/elements.js";
import { rows } from "./data.js";

export const CLASSES = [
  "gemm",
  "conv",
  "attention",
  "moe_routing",
  "normalization",
  "softmax",
  "elementwise",
  "reduction",
  "copy_layout",
  "embedding",
  "optimizer",
  "quantize",
  "sort_scan",
  "sampling",
  "rng",
  "recurrent_ssm",
  "fft",
  "other_compute",
  "unclassified",
  "memset",
  "communication",
  "memcpy",
];

export const classRank = (name) =>
  CLASSES.includes(name) ? CLASSES.indexOf(name) : CLASSES.length;

export function classTint(name) {
  return CLASSES.includes(name) ? `class-${name}` : "class-mixed";
}

// Unclassified work is hatched, so that it does not look like a class of its own.
export function classPaint(name) {
  if (name === "unclassified")
    return "repeating-linear-gradient(45deg, var(--class-unclassified) 0 4px, var(--line) 4px 7px)";
  return `var(--${classTint(name)})`;
}

// A colour that is light enough for the dark text of a frame.
export function framePaint(name) {
  return `color-mix(in srgb, var(--${classTint(name)}) 55%, #fff)`;
}

export function classLegend(list, paint = classPaint, title = null) {
  const names = [...new Set(list.map((r) => r.class))].sort((a, b) => classRank(a) - classRank(b));
  return el(
    "div",
    { class: "legend" },
    title,
    names.map((name) => el("span", {}, swatch(paint(name)), name)),
  );
}

// The class of each name in the tables of kernels and copies; "mixed" if work of the name has
// several classes.
export function classesByName() {
  const found = new Map();
  for (const r of [...rows("kernels"), ...rows("copies")])
    found.set(r.name, found.has(r.name) && found.get(r.name) !== r.class ? "mixed" : r.class);
  return found;
}
