// What rules found, gravest first, each with the query that shows its rows.
import { el } from "../../web/base/elements.js";
import { exact, human, many } from "../../web/base/format.js";
import { textOf, visible } from "../base/text.js";
import { sqlLink, viewLink } from "../parts/links.js";
import { errorText, notice, queryOf } from "../parts/panel.js";
import { placeOfFinding } from "./place.js";

/** The query of the panel. */
export const FINDINGS =
  "SELECT rule, status, severity, trace_id, rank, device, step, subject, value, unit,\n" +
  "    threshold, message, advice, evidence, reason\nFROM findings\nORDER BY\n" +
  "    CASE severity WHEN 'high' THEN 1 WHEN 'medium' THEN 2 WHEN 'low' THEN 3 ELSE 4 END,\n" +
  "    rule, trace_id, step";

const ORDER = ["high", "medium", "low", "info"];
/** Findings that are shown at once. */
const FIRST = 20;

const rank = ({ severity }) => (ORDER.indexOf(severity) + ORDER.length + 1) % (ORDER.length + 1);

/** The list of findings, as { element, set(rows), add(row) }; rows are those of `FINDINGS`. */
export function findingList(tracesOf) {
  const list = el("div", { class: "findings" });
  const summary = el("p", { class: "quiet small", role: "status" });
  let found = [];
  // A box stays when others come, and with it what a click in it has led to.
  const boxes = new Map();

  function draw() {
    found.sort((a, b) => rank(a) - rank(b));
    const all = keyed(found);
    const first = all.slice(0, FIRST).map(boxOf);
    const rest = all.slice(FIRST);
    list.replaceChildren(...first, ...(rest.length ? [moreButton(rest)] : []));
  }

  function boxOf([key, finding]) {
    if (!boxes.has(key)) boxes.set(key, box(finding, tracesOf));
    return boxes.get(key);
  }

  function moreButton(rest) {
    const button = el("button", { type: "button", class: "ghost" }, `${rest.length} more findings`);
    button.addEventListener("click", () => button.replaceWith(...rest.map(boxOf)));
    return button;
  }

  /** Takes the rows of all rules. */
  function set(rows) {
    found = rows.filter((row) => row.status === "finding");
    const silent = rows.filter((row) => row.status === "not_measurable").length;
    const good = rows.filter((row) => row.status === "ok").length;
    summary.textContent =
      `${many(found.length, "finding")}; ${many(good, "result")} within limits; ${silent} not ` +
      "measurable, because the traces lack what they need.";
    if (!found.length) list.replaceChildren(el("p", { class: "quiet" }, "No rule has a finding."));
    else draw();
  }

  /** Adds one finding that the server tells of before all are known. */
  function add(row) {
    found.push(row);
    summary.textContent = `${many(found.length, "finding")} so far …`;
    draw();
  }

  return { element: el("div", {}, summary, list), set, add };
}

/** Rows with a key each, as [key, row]; equal rows have keys of their own. */
function keyed(rows) {
  const times = new Map();
  return rows.map((row) => {
    const text = JSON.stringify(Object.entries(row).sort());
    times.set(text, (times.get(text) ?? 0) + 1);
    return [`${times.get(text)} ${text}`, row];
  });
}

function box(f, tracesOf) {
  const kind = f.severity || "info";
  return el(
    "article",
    { class: `finding ${kind}` },
    el(
      "div",
      { class: "head" },
      el("span", { class: `badge ${kind}` }, kind),
      el("a", { href: viewLink(`rule_${f.rule}`) }, el("code", {}, visible(f.rule, 100))),
      figure(f),
      el("span", { class: "quiet small" }, textOf(placeOf(f), 300)),
    ),
    el("div", { class: "message" }, textOf(f.message || "", 1500)),
    f.advice ? el("div", { class: "advice" }, textOf(f.advice, 1500)) : null,
    f.evidence ? links(f, tracesOf) : null,
    f.evidence ? queryOf(f.evidence, "Evidence (SQL)") : null,
  );
}

function figure({ value, unit, threshold }) {
  if (value === null || value === undefined) return null;
  const limit =
    threshold === null || threshold === undefined ? "" : `, limit ${human(threshold, unit)}`;
  const text = `${human(value, unit || "number")}${limit}`;
  return el("span", { class: "quiet small", title: exact(value, unit || "number") }, text);
}

function placeOf(f) {
  const isKnown = (value) => value !== null && value !== undefined;
  const device = isKnown(f.device) ? (f.device < 0 ? "host" : `device ${f.device}`) : null;
  const step = isKnown(f.step) ? `step ${f.step}` : null;
  const places = [f.subject, step, device, isKnown(f.rank) ? `rank ${f.rank}` : f.trace_id];
  return [...new Set(places.filter(Boolean))].join(" · ");
}

function links(finding, tracesOf) {
  const status = el("span", { class: "small", role: "status" });
  const show = el("button", { type: "button", class: "ghost link" }, "Show in the timeline");
  show.title = "The first place of the evidence, else its step or the longest event that it names";
  show.addEventListener("click", () => go(finding, tracesOf(), show, status));
  const rows = el("a", { href: sqlLink(finding.evidence) }, "Rows of the evidence");
  return el("div", { class: "finding-links small" }, rows, show, status);
}

async function go(finding, traces, button, status) {
  button.disabled = true;
  status.textContent = "Looking for the place …";
  try {
    const { href, reason } = await placeOfFinding(finding, traces);
    status.textContent = reason || "";
    if (href) location.assign(href);
  } catch (error) {
    status.replaceChildren(notice(errorText(error), true));
  }
  button.disabled = false;
}
