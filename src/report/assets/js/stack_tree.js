// Stacks as a tree of frames, which the flame graph and the sunburst draw.
import { el } from "../../../../web/base/elements.js";
import { words } from "../../../../web/base/format.js";
import { rows, section } from "./data.js";

// The tree of a section for the shown trace: nodes with their own values and their totals in each
// measure, and the measures that are not zero everywhere.
export function treeOf(key) {
  const measures = section(key)
    .columns.slice(5)
    .map((c) => ({ name: c.name, unit: c.unit }));
  const nodes = rows(key).map((row) => ({
    name: row.name,
    parent: null,
    children: [],
    depth: 0,
    merged: row.merged,
    own: measures.map((m) => Number(row[m.name])),
    row,
  }));
  for (const node of nodes) {
    node.total = node.own.slice();
    if (node.row.parent === null) continue;
    node.parent = nodes[node.row.parent];
    node.depth = node.parent.depth + 1;
    node.parent.children.push(node);
  }
  // Children come after their parents.
  for (const node of nodes.slice().reverse()) {
    if (node.parent)
      node.total.forEach((value, i) => {
        node.parent.total[i] += value;
      });
  }
  return {
    root: nodes[0],
    nodes,
    measures: measures.map((m, i) => ({ ...m, at: i })).filter((m) => nodes[0].total[m.at] > 0),
  };
}

/** The name of merged frames. */
export const OTHER = "(other)";

export const MEASURES = {
  host_ns: "Host time",
  device_ns: "Device time",
  allocated_bytes: "Memory allocated",
};

export function measureChoice(measures, choose) {
  if (measures.length < 2) return null;
  const select = el(
    "select",
    { "aria-label": "Measure", onchange: () => choose(measures[select.selectedIndex]) },
    measures.map((m) => el("option", {}, MEASURES[m.name] || words(m.name))),
  );
  return select;
}

// Work of a device has time only on the device.
export function isDeviceWork(node) {
  return (
    node.children.length === 0 &&
    !node.merged &&
    node.own.length > 1 &&
    node.own[1] > 0 &&
    node.own[0] === 0
  );
}

// Operators are recognised by the namespaces that frameworks give them.
const OPERATOR_NAMESPACES = [
  "aten",
  "c10d?",
  "torch",
  "prims",
  "nccl",
  "autograd",
  "detectron",
  "mkldnn",
  "quantized",
  "vllm",
  "_C\\w*",
  "triton",
];
const OPERATOR = new RegExp(`^(${OPERATOR_NAMESPACES.join("|")})::|Backward\\d*$`);

// The kinds of frames, by their style class.
export const KINDS = {
  "k-thread": "threads",
  "k-python": "Python",
  "k-module": "modules",
  "k-op": "operators and other events",
  "k-note": "steps and annotations",
  "k-call": "runtime calls",
  "k-kernel": "device work",
  "k-other": "merged or unnamed frames",
};

// The style class of a frame, by its name.
export function kindOf(node) {
  const { name } = node;
  if (isDeviceWork(node) && !name.startsWith("(")) return "k-kernel";
  if (name.startsWith("(")) return "k-other";
  if (node.depth === 1) return "k-thread";
  if (OPERATOR.test(name)) return "k-op";
  if (/^nn\.Module/.test(name)) return "k-module";
  if (/^(cuda|hip|cu[A-Z]|zeCommand|Runtime)/.test(name)) return "k-call";
  if (/\.py(\(\d+\)|:\d+)?|^<built-in|^<string>|<frozen/.test(name)) return "k-python";
  if (/^(ProfilerStep|Optimizer|enumerate|\[|## |iteration)/.test(name)) return "k-note";
  return "k-op";
}
