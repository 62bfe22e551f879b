// From an operator to the work that it launched, and from a kernel to its operators. The page knows
// both from the stacks of the flame graph.
import { el } from "../../../../web/base/elements.js";
import { exact, human, many } from "../../../../web/base/format.js";
import { rows, state } from "./data.js";
import { withKinds } from "./flame_tree.js";
import { fitted, shortName } from "./names.js";
import { openTab } from "./navigation.js";
import { OTHER, treeOf } from "./stack_tree.js";

const MAX_LINES = 12;
const kept = new Map();

function stacks() {
  if (!kept.has(state.trace)) {
    const { nodes, measures } = rows("flame").length
      ? treeOf("flame")
      : { nodes: [], measures: [] };
    withKinds(nodes);
    kept.set(state.trace, { nodes, device: measures.find((m) => m.name === "device_ns") });
  }
  return kept.get(state.trace);
}

/** What the record of an operator has in addition. */
export function ofOperator({ name }) {
  const { nodes, device } = stacks();
  const work = new Map();
  if (device) {
    for (const node of nodes) {
      node.isBelow = node.name === name || (node.parent !== null && node.parent.isBelow);
      const time = node.own[device.at];
      if (node.isBelow && time > 0) work.set(node.name, (work.get(node.name) || 0) + time);
    }
  }
  const title = "Device work that it launched, from the stacks of the flame graph";
  return [links(name), relation(title, work, "kernels")];
}

/** What the record of a kernel has in addition. */
export function ofKernel({ name }) {
  const { nodes, device } = stacks();
  const operators = new Map();
  for (const node of device ? nodes : []) {
    if (node.kind !== "k-kernel" || node.name !== name) continue;
    let at = node.parent;
    while (at.parent && at.kind !== "k-op") at = at.parent;
    if (at.parent) operators.set(at.name, (operators.get(at.name) || 0) + node.own[device.at]);
  }
  const title = "Operators that launched it, with its time, from the stacks of the flame graph";
  return [links(name), relation(title, operators, "operators")];
}

function links(name) {
  if (!stacks().nodes.some((node) => node.name === name)) return null;
  const find = { type: "button", class: "ghost", onclick: () => openTab("flame", name) };
  return el("p", { class: "links" }, el("button", find, "Find in the flame graph"));
}

// Names with their time, the longest first. A name with a row in the table of `tab` leads to it.
function relation(title, times, tab) {
  if (!times.size) return null;
  const known = new Set(rows(tab).map((row) => row.name));
  const all = [...times].sort((a, b) => b[1] - a[1]);
  const total = all.reduce((sum, [, time]) => sum + time, 0);
  const label = (name) => fitted(name === OTHER ? "merged small frames" : shortName(name));
  const line = ([name, time]) =>
    el(
      "div",
      { class: "item", title: `${name.slice(0, 500)}\n${exact(time, "ns")}` },
      known.has(name)
        ? el("button", { type: "button", onclick: () => openTab(tab, name) }, label(name))
        : el("span", { class: "mono" }, label(name)),
      el("span", {}, human(time, "ns")),
      el("i", {}, el("b", { width: `${(100 * time) / total}%` })),
    );
  const left = all.length - MAX_LINES;
  return el(
    "section",
    { class: "relation" },
    el("h3", {}, title),
    el("div", { class: "toplist" }, all.slice(0, MAX_LINES).map(line)),
    left > 0 ? el("p", { class: "quiet small" }, `and ${many(left, "more name")}`) : null,
  );
}
