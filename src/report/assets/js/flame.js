// The flame graph: frames as bars, the root on top.
import { el } from "../../../../web/base/elements.js";
import { exact, grouped, human, many, pct } from "../../../../web/base/format.js";
import { classLegend, classesByName, framePaint } from "./class_colours.js";
import { state } from "./data.js";
import { callers, find, leading, withKinds, withoutPython } from "./flame_tree.js";
import { shortName } from "./names.js";
import { setItem } from "./navigation.js";
import { panelOr } from "./panels.js";
import { KINDS, measureChoice, treeOf } from "./stack_tree.js";

const FLAME_ROW = 20;
/** Narrower frames are not drawn, in pixels. */
const MIN_WIDTH = 1.5;
/** Narrower frames have no text, in pixels. */
const MIN_TEXT_WIDTH = 34;
/** A row for leading frames saves space from this number of them. */
const MIN_FOLDED = 3;
const MODULE = /^nn\.Module: /;

export function flameTab() {
  return [panelOr("flame", () => flameGraph("flame"))];
}

export function flameGraph(key) {
  const { nodes, measures } = treeOf(key);
  if (!measures.length) return el("p", { class: "notice" }, "No stack has any time.");
  withKinds(nodes);
  const classes = classesByName();
  const classOf = (node) => (node.kind === "k-kernel" ? classes.get(node.name) : undefined);
  // The colour of a module says that it is one.
  const nameOf = ({ kind, name }) =>
    kind === "k-kernel" ? shortName(name) : kind === "k-module" ? name.replace(MODULE, "") : name;
  const view = { measure: measures[0], text: state.item };
  let [list, root, top, found] = [nodes, nodes[0], nodes[0], null];

  const legend = el("div", { class: "flame-legend" });
  const box = el("div", { class: "flame" });
  const path = el("div", { class: "path", role: "status" });
  const back = el(
    "button",
    { type: "button", class: "ghost", onclick: () => zoom(root) },
    "Whole graph",
  );
  const search = el("input", {
    type: "search",
    placeholder: "Find frames",
    "aria-label": "Find frames",
    value: view.text,
    oninput: () => {
      view.text = search.value;
      setItem(view.text);
      found = find(list, view.text);
      draw();
    },
  });
  const python = option("Hide Python frames", false, rebuild);
  const inverted = option("Callers below", false, rebuild);
  inverted.title =
    "Inverted: the frames that spent the time are on top, and their callers are below them";
  const folding = option("Fold leading frames", true, () => draw());
  folding.title = "One row for the frames above the first branch, which only lead there";

  const value = (node) => node.total[view.measure.at];
  const share = (node) => pct((100 * value(node)) / (value(root) || 1));
  const amount = (number) => human(number, view.measure.unit);

  // Another tree is drawn, because an option changed.
  function rebuild() {
    list = isOn(python) ? withoutPython(nodes) : nodes;
    root = isOn(inverted) ? callers(list) : list[0];
    top = root;
    found = find(list, view.text);
    draw();
  }

  function zoom(node) {
    top = node;
    draw();
  }

  function describe(node) {
    const merged = node.merged ? ` · ${grouped(node.merged)} small frames together` : "";
    const own = classOf(node);
    const name = `${node.name}${own ? ` · ${own}` : ""}`;
    const itself = amount(node.own[view.measure.at]);
    return `${name} · ${amount(value(node))} (${share(node)}) · itself ${itself}${merged}`;
  }

  function titleOf(node, own) {
    const name = `${node.name.slice(0, 500)}${own ? `\nclass ${own}` : ""}`;
    return `${name}\n${amountsOf(node)}`;
  }

  function amountsOf(node) {
    const total = `${exact(value(node), view.measure.unit)}, ${share(node)} of all`;
    return `${total}\nitself ${exact(node.own[view.measure.at], view.measure.unit)}`;
  }

  // How many frames match, and how much of the whole they are.
  function summary() {
    const [total, unknown] = [found.total[view.measure.at], found.unknown[view.measure.at]];
    const part = (number) => pct((100 * number) / (value(root) || 1));
    const match = `${many(found.frames, "frame")} match${found.frames === 1 ? "es" : ""}`;
    const rest = unknown
      ? ` Merged small frames (${part(unknown)} of all) have no names, so they were not searched.`
      : "";
    return `${match}, ${amount(total)}, ${part(total)} of all.${rest}`;
  }

  // The class of a bar for a search: a hit, on the way to one, or with a hit that is too narrow.
  function markOf(node, width) {
    if (!view.text) return "";
    if (node.isHit) return " match";
    if (!node.isWay) return "";
    const isNear = node.children.some(
      (c) => (c.isHit || c.isWay) && (width * value(c)) / (value(node) || 1) < MIN_WIDTH,
    );
    return isNear ? " way near" : " way";
  }

  function draw() {
    const isSearching = view.text !== "";
    box.classList.toggle("searching", isSearching);
    back.hidden = top === root;
    const width = Math.max(box.clientWidth, 320);
    const drawn = { kinds: new Set(), classes: new Set(), depth: 0 };
    const bars = [];

    function bar(node, left, wide, level, properties, text, kind = node.kind) {
      drawn.depth = Math.max(drawn.depth, level);
      drawn.kinds.add(kind);
      const room = wide * width > MIN_TEXT_WIDTH;
      const mark = markOf(node, wide * width);
      bars.push(
        el(
          "button",
          {
            type: "button",
            class: `${kind}${mark}${room ? "" : " thin"}`,
            left: `${left * 100}%`,
            width: `${wide * 100}%`,
            top: `${level * FLAME_ROW}px`,
            "aria-label": room ? undefined : node.name.slice(0, 200),
            onmouseenter: () => {
              path.textContent = describe(node);
            },
            ...properties,
          },
          room ? text.slice(0, 200) : "",
        ),
      );
    }

    function add(node, left, wide, level, isLeading) {
      if (wide * width < MIN_WIDTH) return;
      const chain = isLeading && isOn(folding) ? leading(node, view.measure.at) : [node];
      if (chain.length >= MIN_FOLDED) {
        const last = chain[chain.length - 1];
        const properties = {
          title: `${chain.map((n) => n.name.slice(0, 200)).join("\n")}\n${amountsOf(chain[0])}`,
          onmouseenter: () => {
            path.textContent = describe(chain[0]);
          },
          onclick: () => folding.querySelector("input").click(),
        };
        const between = many(chain.length - 2, "frame");
        const text = `${chain[0].name} › ${between} › ${last.name}`;
        const marked = chain.find((n) => n.isHit) || last;
        bar(marked, left, wide, level, properties, text, chain[0].kind);
        inside(last, left, wide, level, false);
        return;
      }
      const own = classOf(node);
      if (own) drawn.classes.add(own);
      const properties = {
        background: own ? framePaint(own) : undefined,
        title: titleOf(node, own),
        onclick: () => zoom(node),
      };
      bar(node, left, wide, level, properties, nameOf(node));
      inside(node, left, wide, level, isLeading && node === root);
    }

    function inside(node, left, wide, level, isLeading) {
      let at = left;
      for (const child of node.children.slice().sort((a, b) => (a.name < b.name ? -1 : 1))) {
        const part = (wide * value(child)) / (value(node) || 1);
        add(child, at, part, level + 1, isLeading);
        at += part;
      }
    }

    if (top !== root) above(bar);
    add(top, 0, 1, top === root ? 0 : 1, top === root && !isOn(inverted));
    box.style.height = `${(drawn.depth + 1) * FLAME_ROW}px`;
    box.replaceChildren(...bars);
    drawLegend(drawn);
    path.textContent = isSearching ? summary() : describe(top);
    path.title = isSearching ? exact(found.total[view.measure.at], view.measure.unit) : "";
  }

  // One row for all frames above the zoomed one; a click goes one frame up.
  function above(bar) {
    const names = [];
    for (let node = top.parent; node; node = node.parent) names.unshift(node.name.slice(0, 200));
    const more = names.length > 1 ? ` (${many(names.length, "frame")} above)` : "";
    const { parent } = top;
    const properties = { title: `${names.join("\n")}\n${titleOf(parent)}` };
    bar(parent, 0, 1, 0, { ...properties, onclick: () => zoom(parent) }, `↑ ${parent.name}${more}`);
  }

  function drawLegend({ kinds, classes: names }) {
    const shown = Object.keys(KINDS).filter((kind) => kinds.has(kind));
    const entry = (kind) => el("span", {}, el("span", { class: `swatch ${kind}` }), KINDS[kind]);
    const list = [...names].map((name) => ({ class: name }));
    legend.replaceChildren(
      el("div", { class: "kinds" }, shown.map(entry)),
      ...(list.length ? [classLegend(list, framePaint, "Classes of device work:")] : []),
    );
  }

  new ResizeObserver(() => {
    if (box.clientWidth) draw();
  }).observe(box);
  found = find(list, view.text);
  return [
    el(
      "div",
      { class: "flame-tools" },
      measureChoice(measures, (m) => {
        view.measure = m;
        draw();
      }),
      search,
      python,
      inverted,
      folding,
      back,
      el("span", { class: "quiet small" }, `${grouped(nodes.length)} frames; a click zooms in`),
      path,
    ),
    legend,
    box,
  ];
}

function option(text, isChecked, change) {
  const input = el("input", { type: "checkbox", checked: isChecked, onchange: change });
  return el("label", { class: "option" }, input, text);
}

const isOn = (label) => label.querySelector("input").checked;
