// What is said about a frame: in tooltips, in the line below the tools, and in the legend.
import { el } from "../../web/base/elements.js";
import { exact, human, pct } from "../../web/base/format.js";
import { tooltipContent } from "../../web/charts/tooltip.js";
import { visible } from "../base/text.js";
import { changeColour } from "./colours.js";

const share = (part, whole) => pct(whole ? (100 * part) / whole : 0);

/** The tooltip of a frame: exact values with their share of all. */
export function frameTooltip(tree, node, unit) {
  const lines = [
    [null, "total", `${exact(tree.total[node], unit)} · ${share(tree.total[node], tree.total[0])}`],
    [null, "self", exact(tree.own[node], unit)],
  ];
  if (tree.isCompared) {
    const delta = tree.total[node] - tree.baseTotal[node];
    const ofBase = tree.baseTotal[node]
      ? `, ${signed(share(delta, tree.baseTotal[node]), delta)}`
      : "";
    lines.push(
      [null, "base total", exact(tree.baseTotal[node], unit)],
      [null, "base self", exact(tree.base[node], unit)],
      [null, "difference", `${signed(exact(delta, unit), delta)}${ofBase}`],
    );
  }
  return tooltipContent(visible(tree.nameOf(node), 2000), lines);
}

const signed = (text, value) => (value > 0 ? `+${text}` : text);

/** One line about a frame. */
export function frameLine(tree, node, unit) {
  const name = visible(tree.nameOf(node), 400);
  const [total, whole] = [tree.total[node], tree.total[0]];
  const change = tree.isCompared ? ` · base ${human(tree.baseTotal[node], unit)}` : "";
  const own = human(tree.own[node], unit);
  return `${name} · ${human(total, unit)} (${share(total, whole)}) · self ${own}${change}`;
}

/** The legend of a difference, as an element. */
export function changeLegend(baseName) {
  const steps = [-1, -0.3, -0.1, 0, 0.1, 0.3, 1];
  const box = (change) => el("i", { background: changeColour(change), class: "change-step" });
  return el(
    "div",
    { class: "change-legend small" },
    el("span", {}, "less (−), or gone"),
    el("span", { "aria-hidden": "true", class: "change-steps" }, steps.map(box)),
    el("span", {}, "more (+), or new"),
    el("span", { class: "quiet" }, `than in ${baseName}. Widths are of both inputs together.`),
  );
}
