// One entry of the reference: what it is, its columns, an example that runs, its statement.
import { el } from "../../web/base/elements.js";
import { api } from "../base/session.js";
import { viewLink } from "../parts/links.js";
import { errorText, notice, pairs, panel, sqlBlock } from "../parts/panel.js";
import { startQuery } from "../parts/query.js";
import { result } from "../parts/result.js";

/** Rows of an example that are shown. */
const EXAMPLE_ROWS = 200;

/**
 * An entry as elements. `known` is what the list says of it, or undefined; `traces` are those of
 * /api/state.
 */
export async function entryPanels(name, known, traces) {
  const entry = await whole(name, known);
  return [
    aboutPanel(entry),
    examplePanel(entry, traces),
    columnsPanel(entry),
    entry.sql ? panel({ title: "Statement", id: "statement" }, sqlBlock(entry.sql)) : null,
  ].filter(Boolean);
}

// Of functions and settings there may be no more than the list says.
async function whole(name, known) {
  try {
    return await api(`/api/docs/${encodeURIComponent(name)}`);
  } catch (error) {
    if (error.status === 404 && known) return known;
    throw error;
  }
}

function aboutPanel(entry) {
  const facts = [
    [
      "Kind",
      [entry.kind, entry.area === entry.kind ? null : entry.area].filter(Boolean).join(", "),
    ],
    ["Unit", entry.unit],
    ["Value", entry.value],
    ["Default", entry.default],
    ["Source", entry.source],
    ["File", entry.file && el("code", {}, entry.file)],
    ["Builds on", entry.uses && entry.uses.length ? names(entry.uses) : null],
    ["Used by", entry.used_by && entry.used_by.length ? names(entry.used_by) : null],
  ].filter(([, value]) => value !== null && value !== undefined && value !== "");
  return el(
    "section",
    { class: "panel" },
    el("header", {}, el("h2", { class: "mono-title" }, entry.name)),
    entry.signature ? el("pre", { class: "sql-text signature-text" }, entry.signature) : null,
    el("p", { class: "lead" }, entry.summary || ""),
    textOf(entry.text),
    pairs(facts),
  );
}

const names = (list) =>
  list.flatMap((name, i) => [
    i ? ", " : "",
    el("a", { href: viewLink(name) }, el("code", {}, name)),
  ]);

// Paragraphs are separated by empty lines; lines of a list begin with a dash.
function textOf(text) {
  const paragraphs = (text || "").split(/\n\s*\n/).filter((part) => part.trim());
  return el("div", { class: "doc-text" }, paragraphs.flatMap(paragraph));
}

function paragraph(text) {
  const items = text.split(/\n(?=\s*- )/);
  const isItem = (part) => /^\s*- /.test(part);
  const list = items.filter(isItem).map((part) => el("li", {}, part.replace(/^\s*- /, "")));
  const rest = items.filter((part) => !isItem(part)).map((part) => el("p", {}, part));
  return list.length ? [...rest, el("ul", {}, list)] : rest;
}

function examplePanel({ example }, traces) {
  const list = (Array.isArray(example) ? example : [example]).filter(Boolean);
  if (!list.length) return null;
  return panel(
    { title: list.length > 1 ? "Examples" : "Example" },
    list.map((sql) => one(sql, traces)),
  );
}

function one(sql, traces) {
  const place = el("div", { class: "example-rows", "aria-live": "polite" });
  const run = el("button", { type: "button", class: "ghost primary" }, "Run");
  run.addEventListener("click", async () => {
    run.disabled = true;
    place.replaceChildren(el("p", { class: "quiet small" }, "Running …"));
    try {
      const answer = await startQuery(sql, { max_rows: EXAMPLE_ROWS }).answer;
      place.replaceChildren(result(answer, { traces, name: "example" }).element);
    } catch (error) {
      place.replaceChildren(notice(errorText(error), true));
    }
    run.disabled = false;
  });
  return el(
    "div",
    { class: "example" },
    sqlBlock(sql),
    el("div", { class: "run-line" }, run),
    place,
  );
}

function columnsPanel({ columns }) {
  if (!columns || !columns.length) return null;
  const line = ({ name, type, unit, text }) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, el("code", {}, name)),
      el("td", {}, type),
      el("td", {}, unit || ""),
      el("td", {}, text || ""),
    );
  const heads = ["Column", "Type", "Unit", "Meaning"].map((t) => el("th", { scope: "col" }, t));
  return panel(
    { title: `Columns (${columns.length})` },
    el(
      "div",
      { class: "doc-columns", tabindex: "0", role: "group", "aria-label": "Columns" },
      el("table", {}, el("thead", {}, el("tr", {}, heads)), el("tbody", {}, columns.map(line))),
    ),
  );
}
