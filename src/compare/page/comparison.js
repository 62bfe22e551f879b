// The data of the page, and the texts of its values.
import { ns } from "../../../web/base/format.js";

export const DATA = JSON.parse(document.getElementById("data").textContent);

export const TITLES = {
  step: "Steps",
  category: "Parts of the step",
  op: "Operators",
  family: "Families",
  kernel: "Kernels",
  kernel_type: "Device work by type",
  class: "Device work by class",
  module: "Modules",
};

// What a row of each dimension is, in the singular.
export const KINDS = {
  step: "step",
  category: "part of the step",
  op: "operator",
  family: "family",
  kernel: "kernel",
  kernel_type: "type of device work",
  class: "class of device work",
  module: "module",
};

export const VERDICTS = [
  "slower",
  "faster",
  "mixed",
  "added",
  "removed",
  "noise",
  "same",
  "not judged",
];

const MAX_NAME_CHARS = 160;

export const nameOf = (row) => row.label || row.key || "";

// Long names lose their middle, because many have the same beginning or the same end.
export function shortened(name) {
  if (name.length <= MAX_NAME_CHARS) return name;
  const end = Math.floor(MAX_NAME_CHARS / 3);
  return `${name.slice(0, MAX_NAME_CHARS - end)}…${name.slice(-end)}`;
}

export const time = (value) => (value === undefined || value === null ? "" : ns(value));

export const signed = (value) => (value > 0 ? "+" : "") + time(value);

export function percent(row) {
  if (row.verdict === "added") return "new";
  if (row.verdict === "removed") return "gone";
  if (row.delta_pct === undefined || row.delta_pct === null) return "";
  const decimals = Math.abs(row.delta_pct) >= 1000 ? 0 : 1;
  return `${row.delta_pct > 0 ? "+" : ""}${row.delta_pct.toFixed(decimals)} %`;
}

export const isPerStep = DATA.base.steps > 0 && DATA.candidate.steps > 0;

// The class of an element that shows a verdict.
export const verdictClass = (row) => row.verdict.split(" ")[0];
