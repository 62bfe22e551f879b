// The sandwich view: all frames by name, and for a chosen one who calls it and what it calls.
import { el } from "../../web/base/elements.js";
import { many } from "../../web/base/format.js";
import { visible } from "../base/text.js";
import { grid } from "../parts/grid.js";
import { compareValues } from "../parts/values.js";
import { flameGraph } from "./flame.js";
import { byName, callees, callers } from "./tree.js";

/** Frames that the table holds; a search finds the others. */
const MOST = 2000;

/**
 * The sandwich view, as { element, show({ tree, text, unit, paintOf, frame }) }; `frame` is the name
 * of the chosen frame, if there is one.
 * `describe(tree, node)` is the content of tooltips, `say(tree, node)` tells of the chosen frame,
 * `chosen(name)` is called when a frame is chosen.
 */
export function sandwich({ describe, say, chosen }) {
  const table = el("div", { class: "sandwich-table" });
  const title = el("h3", {}, "Choose a frame");
  const trees = { up: null, down: null };
  const part = (key, label, isUpward) =>
    flameGraph({
      label,
      isUpward,
      isRootHidden: true,
      describe: (node) => describe(trees[key], node),
      say: (node) => say(trees[key], node),
      open: (node) => choose(trees[key].nameOf(node)),
    });
  const up = part("up", "Callers of the chosen frame", true);
  const down = part("down", "Callees of the chosen frame", false);
  const graphs = el(
    "div",
    {},
    el("h4", {}, "Callers"),
    up.element,
    el("h4", {}, "Callees"),
    down.element,
  );
  const missing = el("p", { class: "quiet small" }, "It is not among the frames shown here.");
  const halves = el("div", { class: "sandwich-halves", hidden: true }, title, missing, graphs);
  const element = el("div", { class: "sandwich" }, table, halves);
  const view = { order: { at: 2, isDown: true }, data: null, name: null };

  function columns() {
    const { unit, tree } = view.data;
    const own = [
      { name: "frame", type: "VARCHAR", unit: "text" },
      { name: "self", type: "DOUBLE", unit },
      { name: "total", type: "DOUBLE", unit },
    ];
    const base = [
      { name: "base self", type: "DOUBLE", unit },
      { name: "base total", type: "DOUBLE", unit },
      { name: "difference", type: "DOUBLE", unit },
    ];
    return tree.isCompared ? [...own, ...base] : own;
  }

  const rowOf = (tree) => (s) =>
    tree.isCompared
      ? [tree.names[s.name], s.own, s.total, s.base, s.baseTotal, s.total - s.baseTotal]
      : [tree.names[s.name], s.own, s.total];

  function drawTable() {
    const { tree, text } = view.data;
    const wanted = text.toLowerCase();
    const all = byName(tree).map(rowOf(tree));
    const found = wanted ? all.filter(([name]) => name.toLowerCase().includes(wanted)) : all;
    const sorted = () => {
      const { at, isDown } = view.order;
      found.sort((a, b) => compareValues(a[at], b[at], isDown ? -1 : 1));
      return found.slice(0, MOST);
    };
    const own = grid({
      columns: columns(),
      rows: sorted(),
      maxWidth: 250,
      label: `Frames, ${many(found.length, "name")}`,
      sort: (at) => {
        view.order = { at, isDown: view.order.at === at ? !view.order.isDown : at > 0 };
        own.show(sorted(), view.order);
      },
      choose: (row) => row && choose(row[0]),
    });
    own.show(sorted(), view.order);
    const note = found.length > MOST ? ` (the first ${MOST} are here)` : "";
    const count = el("p", { class: "quiet small" }, `${many(found.length, "frame name")}${note}`);
    table.replaceChildren(count, own.element);
  }

  /** Shows callers and callees of all frames of a name. */
  function choose(name) {
    const { tree, paintOf } = view.data;
    const number = tree.names.indexOf(name);
    view.name = name;
    halves.hidden = false;
    graphs.hidden = number < 0;
    missing.hidden = number >= 0;
    title.textContent = visible(name, 300);
    if (number < 0) return;
    trees.up = callers(tree, number);
    trees.down = callees(tree, number);
    up.show({ tree: trees.up, hits: null, paint: paintOf(trees.up) });
    down.show({ tree: trees.down, hits: null, paint: paintOf(trees.down) });
    chosen(name);
  }

  /** Shows a tree; `text` filters the names. */
  function show(data) {
    const isNew = !view.data || view.data.tree !== data.tree;
    view.data = data;
    drawTable();
    if (!data.frame) {
      view.name = null;
      halves.hidden = true;
    } else if (isNew || data.frame !== view.name) choose(data.frame);
  }

  return { element, show };
}
