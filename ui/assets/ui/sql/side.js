// The panel beside the editor: tables, views and functions by name, history, saved statements.
import { el } from "../../web/base/elements.js";
import { many } from "../../web/base/format.js";
import { api } from "../base/session.js";
import { visible } from "../base/text.js";
import { manyLines } from "../parts/lines.js";
import { viewLink } from "../parts/links.js";
import { errorText, notice } from "../parts/panel.js";
import { entries, forgetAll } from "./history.js";

/** Entries of a list that are shown at once. */
const MOST = 300;

/**
 * The panel, as { element, redrawHistory() }. `on.insert(text)` puts a name into the editor,
 * `on.open(sql)` replaces its text.
 */
export function side(on) {
  const parts = [
    ["names", "Reference", () => names(on)],
    ["history", "History", () => historyList(on)],
    ["saved", "Saved", () => savedList(on)],
  ];
  const body = el("div", { class: "side-body", role: "tabpanel", id: "side-body" });
  const tabs = parts.map(([key, title]) =>
    el(
      "button",
      { type: "button", role: "tab", id: `side-${key}`, "aria-controls": "side-body" },
      title,
    ),
  );
  const bar = el("div", { class: "side-tabs", role: "tablist", "aria-label": "Beside" }, tabs);
  let chosen = 0;

  function choose(at) {
    chosen = at;
    tabs.forEach((tab, i) => {
      tab.setAttribute("aria-selected", String(i === at));
      tab.tabIndex = i === at ? 0 : -1;
    });
    body.setAttribute("aria-labelledby", tabs[at].id);
    body.replaceChildren(parts[at][2]());
  }

  tabs.forEach((tab, at) => {
    tab.addEventListener("click", () => choose(at));
    tab.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!by) return;
      choose((at + by + tabs.length) % tabs.length);
      tabs[chosen].focus();
    });
  });
  choose(0);
  const element = el("aside", { class: "side", "aria-label": "Reference and history" }, bar, body);
  return { element, redrawHistory: () => chosen === 1 && choose(1) };
}

function names(on) {
  const list = el("div", { class: "names" }, el("p", { class: "quiet small" }, "…"));
  const search = el("input", {
    type: "search",
    placeholder: "Find a name",
    "aria-label": "Find a table, view or function",
  });
  api("/api/docs").then(
    (docs) => {
      const all = [
        ...docs.tables.map((t) => ({ ...t, kind: "table" })),
        ...docs.views.map((v) => ({ ...v, kind: "view" })),
        ...docs.functions.map((f) => ({ ...f, kind: "function" })),
      ];
      const draw = () => list.replaceChildren(...found(all, search.value, on));
      search.addEventListener("input", draw);
      draw();
    },
    (error) => list.replaceChildren(notice(errorText(error), true)),
  );
  return el("div", { class: "side-part" }, search, list);
}

function found(all, text, on) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = ({ name, summary }) =>
    words.every((w) => `${name} ${summary}`.toLowerCase().includes(w));
  const list = all.filter(matches);
  // Names that begin with the text come first.
  if (words.length) list.sort((a, b) => begins(b, words[0]) - begins(a, words[0]));
  const lines = list.slice(0, MOST).map((one) => nameLine(one, on));
  return lines.length ? lines : [el("p", { class: "quiet small" }, "No name has these words.")];
}

const begins = ({ name }, word) => Number(name.toLowerCase().startsWith(word));

function nameLine({ name, kind, summary }, on) {
  const insert = el("button", { type: "button", class: "name", title: "Insert" }, name);
  insert.addEventListener("click", () => on.insert(kind === "function" ? `${name}(` : name));
  return el(
    "div",
    { class: "name-line" },
    insert,
    el("a", { href: viewLink(name), class: "kind", title: "Reference" }, kind),
    el("span", { class: "quiet small", title: summary }, summary),
  );
}

function historyList(on) {
  const list = entries();
  if (!list.length) return el("p", { class: "quiet small" }, "No statement was run yet.");
  const clear = el("button", { type: "button", class: "ghost" }, "Forget all");
  const box = el(
    "div",
    { class: "side-part" },
    list.map((e) => historyLine(e, on)),
    clear,
  );
  clear.addEventListener("click", () => {
    forgetAll();
    box.replaceChildren(el("p", { class: "quiet small" }, "The history is empty."));
  });
  return box;
}

function historyLine({ sql, at, ms, rows, error }, on) {
  const button = el("button", { type: "button", class: "old-sql", title: manyLines(sql, 2000) });
  button.append(visible(sql.replace(/\s+/g, " ").trim(), 160));
  button.addEventListener("click", () => on.open(sql));
  const end = error ? "failed" : `${many(rows, "row")}, ${Math.round(ms)} ms`;
  const when = new Date(at).toLocaleString();
  return el(
    "div",
    { class: "old" },
    button,
    el("span", { class: "quiet small" }, `${when} · ${end}`),
  );
}

function savedList(on) {
  const box = el("div", { class: "side-part" });
  api("/api/state").then(
    ({ saved }) => box.append(...savedLines(saved || [], on, box)),
    (error) => box.append(notice(errorText(error), true)),
  );
  return box;
}

function savedLines(list, on, box) {
  if (!list.length) {
    const text =
      "No folder of statements is open: start with --sql FOLDER. Its files are only read.";
    return [el("p", { class: "quiet small" }, text)];
  }
  return list.map((name) => {
    const button = el("button", { type: "button", class: "old-sql" }, visible(name, 200));
    button.addEventListener("click", () =>
      api(`/api/saved/${encodeURIComponent(name)}`).then(
        ({ sql }) => on.open(sql),
        (error) => box.append(notice(errorText(error), true)),
      ),
    );
    return el("div", { class: "old" }, button);
  });
}
