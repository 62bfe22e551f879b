// Modules as a tree that opens and closes.
import { el } from "../../../../web/base/elements.js";
import { exact, grouped, human, many } from "../../../../web/base/format.js";
import { columnWidth, setWidths } from "./column_widths.js";
import { rest, section } from "./data.js";
import { panelOr } from "./panels.js";
import { TOO_WIDE, withEdges } from "./scroll_hint.js";
import { csv, save } from "./table.js";

/** Width of the column of shares, in pixels. */
const SHARE_WIDTH = 96;

export function modulesTab() {
  return [panelOr("modules", (list) => moduleTree(list))];
}

function moduleTree(list) {
  const known = new Set(list.map((m) => m.path));
  const children = new Map();
  for (const module of list) {
    const parent = known.has(module.parent_path) ? module.parent_path : null;
    if (!children.has(parent)) children.set(parent, []);
    children.get(parent).push(module);
  }
  const time = list.some((m) => m.device_total_ns > 0) ? "device_total_ns" : "host_total_ns";
  for (const group of children.values()) group.sort((a, b) => (b[time] || 0) - (a[time] || 0));
  const open = new Set();
  const roots = children.get(null) || [];
  // Opens modules down to the first level with a choice, and one level more.
  for (let level = roots; level.length && level.length <= 3;) {
    level.forEach((m) => open.add(m.path));
    level = level.flatMap((m) => children.get(m.path) || []);
  }
  const all = roots.reduce((sum, m) => sum + (m[time] || 0), 0);
  const columns = [
    ["calls", "count"],
    ["host_total_ns", "ns"],
    ["host_exclusive_ns", "ns"],
    ["device_total_ns", "ns"],
    ["device_self_ns", "ns"],
  ].filter(([name]) => list.some((m) => m[name]));
  const titles = {
    calls: "Calls",
    host_total_ns: "Host total",
    host_exclusive_ns: "Host without inner modules",
    device_total_ns: "Device total",
    device_self_ns: "Device itself",
  };
  const body = el("tbody");
  const cols = [null, ...columns, null].map(() => el("col"));
  const table = el(
    "table",
    { class: "tree" },
    el("colgroup", {}, cols),
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        el("th", { class: "text" }, el("button", { type: "button" }, "Module")),
        columns.map(([name]) =>
          el("th", {}, el("button", { type: "button", title: name }, titles[name])),
        ),
        el(
          "th",
          {},
          el(
            "button",
            { type: "button", title: `${time} as percent of that of the outermost modules` },
            "Share",
          ),
        ),
      ),
    ),
    body,
  );

  const widths = columns.map(([name, unit]) => columnWidth({ name, unit }, titles[name], list));
  setWidths(table, cols, [null, ...widths, SHARE_WIDTH]);

  function lines(group, depth) {
    return group.flatMap((m) => [
      line(m, depth),
      ...(open.has(m.path) ? lines(children.get(m.path) || [], depth + 1) : []),
    ]);
  }

  function line(m, depth) {
    const inner = children.get(m.path);
    const twist = inner
      ? el(
          "button",
          {
            type: "button",
            class: "twist",
            "aria-expanded": open.has(m.path),
            "aria-label": `${open.has(m.path) ? "Close" : "Open"} ${m.name}`,
            onclick: () => {
              open.has(m.path) ? open.delete(m.path) : open.add(m.path);
              draw();
            },
          },
          open.has(m.path) ? "▾" : "▸",
        )
      : el("span", { class: "twist" });
    const share = all > 0 ? (100 * (m[time] || 0)) / all : null;
    return el(
      "tr",
      {},
      el(
        "td",
        { class: "text", paddingLeft: `${8 + depth * 18}px`, title: m.path.slice(0, 600) },
        twist,
        m.name,
        m.class && m.class !== m.name && !m.name.startsWith(m.class)
          ? el("span", { class: "class" }, ` ${m.class}`)
          : null,
      ),
      columns.map(([name, unit]) =>
        el("td", { title: exact(m[name], unit) }, human(m[name], unit)),
      ),
      el(
        "td",
        { class: "share" },
        human(share, "pct"),
        el("i", {}, el("b", { width: `${Math.min(share || 0, 100)}%` })),
      ),
    );
  }

  function draw() {
    body.replaceChildren(...lines(roots, 0));
  }

  const button = (text, action) =>
    el(
      "button",
      {
        type: "button",
        class: "ghost",
        onclick: () => {
          action();
          draw();
        },
      },
      text,
    );
  const left = rest("modules");
  const small = left ? `; ${grouped(left.rows)} small ones are left out` : "";
  draw();
  return [
    el(
      "div",
      { class: "tools" },
      button("Open all", () => list.forEach((m) => open.add(m.path))),
      button("Close all", () => open.clear()),
      el("span", { class: "count" }, `${many(list.length, "module")}${small}`),
      el(
        "button",
        {
          type: "button",
          class: "ghost csv",
          onclick: () =>
            save("modules.csv", "text/csv", csv(section("modules").columns.slice(1), list)),
        },
        "CSV",
      ),
    ),
    withEdges(
      el("div", { class: "grid", tabindex: "0", role: "group", "aria-label": "modules" }, table),
      TOO_WIDE,
    ),
  ];
}
