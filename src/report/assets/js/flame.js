// The flame graph: frames as bars, the root on top.
import { el } from "../../../../web/base/elements.js";
import { exact, grouped, human, pct } from "../../../../web/base/format.js";
import { classLegend, classesByName, framePaint } from "./class_colours.js";
import { panelOr } from "./panels.js";
import { isDeviceWork, kindOf, measureChoice, treeOf } from "./stack_tree.js";

const FLAME_ROW = 20;

export function flameTab() {
  return [panelOr("flame", () => flameGraph("flame"))];
}

function flameGraph(key) {
  const { root, nodes, measures } = treeOf(key);
  if (!measures.length) return el("p", { class: "notice" }, "No stack has any time.");
  let measure = measures[0];
  let top = root;
  let text = "";
  const classes = classesByName();
  const classOf = (node) => (isDeviceWork(node) ? classes.get(node.name) : undefined);
  const legend = el("div");
  const box = el("div", { class: "flame" });
  const path = el("div", { class: "path", role: "status" });
  const back = el(
    "button",
    {
      type: "button",
      class: "ghost",
      onclick: () => {
        top = root;
        draw();
      },
    },
    "Whole graph",
  );
  const search = el("input", {
    type: "search",
    placeholder: "Find frames",
    "aria-label": "Find frames",
    oninput: () => {
      text = search.value.toLowerCase();
      draw();
    },
  });
  const value = (node) => node.total[measure.at];
  const share = (node) => pct((100 * value(node)) / (value(root) || 1));

  function describe(node) {
    const merged = node.merged ? ` · ${grouped(node.merged)} small frames together` : "";
    const own = classOf(node);
    const name = `${node.name}${own ? ` · ${own}` : ""}`;
    const total = `${human(value(node), measure.unit)} (${share(node)})`;
    return `${name} · ${total} · itself ${human(node.own[measure.at], measure.unit)}${merged}`;
  }

  function titleOf(node, own) {
    const name = `${node.name.slice(0, 500)}${own ? `\nclass ${own}` : ""}`;
    const total = `${exact(value(node), measure.unit)}, ${share(node)} of all`;
    return `${name}\n${total}\nitself ${exact(node.own[measure.at], measure.unit)}`;
  }

  // How many frames match, and how much of the whole they are.
  function summary(found) {
    const part = pct((outermost(found) / (value(root) || 1)) * 100);
    return `${grouped(found.length)} frames in sight match, ${part} of all`;
  }

  function draw() {
    box.classList.toggle("searching", text !== "");
    back.hidden = top === root;
    const found = [];
    const width = Math.max(box.clientWidth, 600);
    let deepest = 0;
    const bars = [];
    const drawn = [];
    const add = (node, left, wide, level) => {
      if (wide * width < 1.5) return;
      deepest = Math.max(deepest, level);
      const matches = text && node.name.toLowerCase().includes(text);
      if (matches) found.push(node);
      const room = wide * width > 34;
      const own = classOf(node);
      if (own) drawn.push({ class: own });
      bars.push(
        el(
          "button",
          {
            type: "button",
            class: `${kindOf(node)}${matches ? " match" : ""}${room ? "" : " thin"}`,
            left: `${left * 100}%`,
            width: `${wide * 100}%`,
            top: `${level * FLAME_ROW}px`,
            background: own ? framePaint(own) : undefined,
            title: titleOf(node, own),
            "aria-label": room ? undefined : node.name.slice(0, 200),
            onclick: () => {
              top = node;
              draw();
            },
            onmouseenter: () => {
              path.textContent = describe(node);
            },
          },
          room ? node.name.slice(0, 200) : "",
        ),
      );
      let at = left;
      for (const child of node.children.slice().sort((a, b) => (a.name < b.name ? -1 : 1))) {
        const part = (wide * value(child)) / (value(node) || 1);
        add(child, at, part, level + 1);
        at += part;
      }
    };
    const above = [];
    for (let node = top.parent; node; node = node.parent) above.unshift(node);
    above.forEach((node, level) =>
      bars.push(
        el(
          "button",
          {
            type: "button",
            class: kindOf(node),
            left: "0",
            width: "100%",
            top: `${level * FLAME_ROW}px`,
            title: node.name.slice(0, 500),
            onclick: () => {
              top = node;
              draw();
            },
          },
          node.name.slice(0, 200),
        ),
      ),
    );
    add(top, 0, 1, above.length);
    box.style.height = `${(Math.max(deepest, above.length) + 1) * FLAME_ROW}px`;
    box.replaceChildren(...bars);
    legend.replaceChildren(
      ...(drawn.length ? [classLegend(drawn, framePaint, "Work of devices:")] : []),
    );
    path.textContent = text ? summary(found) : describe(top);
  }

  // The time of frames that match; frames inside another match do not count twice.
  function outermost(found) {
    const set = new Set(found);
    const isInside = (node) => {
      for (let p = node.parent; p; p = p.parent) if (set.has(p)) return true;
      return false;
    };
    return found.filter((n) => !isInside(n)).reduce((sum, n) => sum + value(n), 0);
  }

  new ResizeObserver(() => {
    if (box.clientWidth) draw();
  }).observe(box);
  return [
    el(
      "div",
      { class: "flame-tools" },
      measureChoice(measures, (m) => {
        measure = m;
        draw();
      }),
      search,
      back,
      el("span", { class: "quiet small" }, `${grouped(nodes.length)} frames; a click zooms in`),
      path,
    ),
    el("div", { class: "flame-scroll" }, box),
    legend,
  ];
}
