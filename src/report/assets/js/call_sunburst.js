// The call graph as a sunburst, with a list of what is inside the chosen frame.
import { el } from "../../../../web/base/elements.js";
import { exact, human, pct, words } from "../../../../web/base/format.js";
import { sunburst } from "../../../../web/charts/sunburst.js";
import { tooltipContent } from "../../../../web/charts/tooltip.js";
import { fitted } from "./names.js";
import { panelOr } from "./panels.js";
import { MEASURES, measureChoice, treeOf } from "./stack_tree.js";

const RAYS = ["compute", "comm", "host", "copy", "runtime", "data", "fill"];

const RINGS = 6;

export function sunburstTab() {
  return [panelOr("call_graph", () => callSunburst("call_graph"))];
}

// Some rings of the tree below a frame; a click goes inside.
function callSunburst(key) {
  const { root, measures } = treeOf(key);
  if (!measures.length) return el("p", { class: "notice" }, "No call has any time.");
  let measure = measures[0];
  let top = onlyChild(root);
  const value = (node) => node.total[measure.at];
  const share = (part, whole) => pct((100 * part) / (whole || 1));
  const inside = (node) =>
    node.children.filter((c) => value(c) > 0).sort((a, b) => value(b) - value(a));
  const side = el("div");
  const picture = sunburst({
    parts,
    rings: RINGS,
    describe,
    choose: (part) => open(part.node),
    leave: () => top.parent && open(top.parent),
    middle: () => human(value(top), measure.unit),
    label: "call graph as a sunburst",
  });

  // A frame with nothing inside would show nothing: its parent is shown.
  function open(node) {
    top = node.children.length ? node : node.parent;
    picture.redraw();
    list();
  }

  // The inner ring has colours, which the rings outside of it share.
  function parts() {
    const part = (node, tint, ring) => ({
      node,
      tint,
      value: value(node),
      text: shortName(node.name),
      children: ring + 1 < RINGS ? outer(node).map((c) => part(c, tint, ring + 1)) : [],
    });
    const outer = (node) => inside(node).filter((c) => value(c) > 0.002 * value(top));
    const tint = (node, i) => (node.name === "(other)" ? "idle" : RAYS[i % RAYS.length]);
    return inside(top).map((node, i) => part(node, tint(node, i), 0));
  }

  function describe({ node }) {
    return tooltipContent(node.name.slice(0, 600), [
      [null, MEASURES[measure.name] || words(measure.name), human(value(node), measure.unit)],
      [null, "exact", exact(value(node), measure.unit)],
      [null, "of all", share(value(node), value(root))],
      [null, "itself", human(node.own[measure.at], measure.unit)],
    ]);
  }

  function crumbs() {
    const above = [];
    for (let node = top; node; node = node.parent) above.unshift(node);
    const crumb = (node) => {
      if (node === top) return el("b", {}, node.name.slice(0, 120));
      const properties = { type: "button", class: "more", onclick: () => open(node) };
      return el("button", properties, node.name.slice(0, 80));
    };
    return el(
      "div",
      { class: "crumbs" },
      above.flatMap((node, i) => [i ? "›" : null, crumb(node)]),
    );
  }

  function line(name, amount, click) {
    return el(
      "div",
      { class: "item", title: `${name.slice(0, 500)}\n${exact(amount, measure.unit)}` },
      click
        ? el("button", { type: "button", onclick: click }, fitted(name.slice(0, 500)))
        : el("span", { class: "quiet" }, name),
      el("span", {}, `${human(amount, measure.unit)} · ${share(amount, value(top))}`),
      el("i", {}, el("b", { width: `${(100 * amount) / (value(top) || 1)}%` })),
    );
  }

  function list() {
    const all = inside(top);
    const first = all.slice(0, 14);
    const own = top.own[measure.at];
    const more = all.length - first.length;
    const total = `${human(value(top), measure.unit)}, ${share(value(top), value(root))} of all`;
    side.replaceChildren(
      crumbs(),
      el("p", { class: "quiet small" }, total),
      el(
        "div",
        { class: "toplist" },
        first.map((c) => line(c.name, value(c), () => open(c))),
        own > 0 ? line("itself", own) : null,
        more ? el("p", { class: "quiet small" }, `and ${more} more`) : null,
      ),
    );
  }

  const choice = measureChoice(measures, (m) => {
    measure = m;
    picture.redraw();
    list();
  });
  const hint = `${RINGS} rings of calls; a click goes inside, a click on the middle goes back`;
  list();
  return [
    el("div", { class: "flame-tools" }, choice, el("span", { class: "quiet small" }, hint)),
    el("div", { class: "sun" }, picture.element, side),
  ];
}

// A frame that is the only one inside is opened at once, because there is nothing to choose.
function onlyChild(node) {
  let at = node;
  while (at.children.length === 1 && at.children[0].children.length) at = at.children[0];
  return at;
}

// A name without the prefix that most names share.
function shortName(name) {
  return name
    .replace(/^autograd::engine::evaluate_function: |^nn\.Module: /, "")
    .replace(/^(aten|torch::autograd|torch)::/, "");
}
