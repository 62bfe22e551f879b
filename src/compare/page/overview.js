// The first tab: what differs between the sides, and what changed most.
import { el } from "../../../web/base/elements.js";
import { many } from "../../../web/base/format.js";
import { DATA, isPerStep, nameOf, percent, time, verdictClass } from "./comparison.js";
import { rowsTable } from "./rows_table.js";

const MAX_CHANGES = 40;
// Rows of these dimensions are about single things. The others sum the same time up in groups.
const SINGLE = ["category", "op", "kernel", "module"];

export const panel = (title, text, ...children) =>
  el(
    "section",
    { class: "panel" },
    el("header", {}, el("h2", {}, title), text ? el("p", {}, text) : null),
    children,
  );

function sideCard(label, side) {
  return el(
    "div",
    { class: "card" },
    el("div", { class: "label" }, label),
    el("div", { class: "figure", title: side.name }, side.short_name),
    el(
      "div",
      { class: "note" },
      `${many(side.traces.length, "trace")}, ${many(side.steps, "step")}`,
    ),
  );
}

function stepCards() {
  return DATA.rows
    .filter((r) => r.dimension === "step")
    .map((r) =>
      el(
        "div",
        { class: "card" },
        el("div", { class: "label" }, r.measure === "host" ? "Step on the host" : "Step time"),
        el(
          "div",
          { class: `figure ${verdictClass(r)}` },
          r.verdict === "not judged" ? percent(r) || "–" : `${percent(r)} ${r.verdict}`,
        ),
        el("div", { class: "note" }, `${time(r.base_ns)} → ${time(r.cand_ns)}`),
      ),
    );
}

function differences() {
  if (DATA.environment.length === 0) return null;
  const cell = (value) =>
    el("td", { class: value === null ? "unknown" : "" }, value === null ? "not recorded" : value);
  const lines = DATA.environment.map((d) =>
    el("tr", {}, el("th", { scope: "row" }, d.label), cell(d.base), cell(d.candidate)),
  );
  const head = ["", "Base", "Candidate"].map((text) => el("th", { scope: "col" }, text));
  return panel(
    DATA.environment_title,
    "",
    el("table", { class: "differs" }, el("thead", {}, el("tr", {}, head)), el("tbody", {}, lines)),
  );
}

function warnings() {
  const bad = (text) => el("p", { class: "notice bad" }, text);
  const all = [
    ...DATA.warnings.map((w) => bad(`Warning: ${w}`)),
    ...DATA.failures.map((f) => bad(`Failed: ${f.condition}: ${f.message}`)),
  ];
  return all.length ? el("div", {}, all) : null;
}

function notes() {
  const left =
    DATA.left_out > 0
      ? [`${many(DATA.left_out, "row")} with the smallest differences are not on this page.`]
      : [];
  const all = [...DATA.notes, ...left].map((n) => el("p", { class: "notice" }, n));
  return all.length ? el("div", {}, all) : null;
}

function changes() {
  const single = DATA.rows.filter((r) => SINGLE.includes(r.dimension) && nameOf(r));
  const changed = single.filter((r) =>
    ["slower", "faster", "mixed", "added", "removed"].includes(r.verdict),
  );
  const isJudged = single.some((r) => r.verdict !== "not judged");
  const rows = (isJudged ? changed : single)
    .slice()
    .sort((a, b) => Math.abs(b.delta_ns) - Math.abs(a.delta_ns))
    .slice(0, MAX_CHANGES);
  if (rows.length === 0)
    return panel("What changed most", "No part, operator, kernel or module changed beyond noise.");
  const sum = `The largest differences are first. Times are ${perWhat()}.`;
  const how = isJudged ? "" : " Nothing is judged, because a side has too few steps.";
  return panel("What changed most", sum + how, rowsTable(rows, { hasKinds: true }));
}

export const perWhat = () =>
  isPerStep ? "means per step over the ranks" : "per trace, because a side has no steps";

export function overviewTab() {
  return [
    el(
      "div",
      { class: "cards" },
      sideCard("Base", DATA.base),
      sideCard("Candidate", DATA.candidate),
      stepCards(),
    ),
    warnings(),
    differences(),
    changes(),
    notes(),
  ];
}
