// The first page: what is open, what rules found, what was not recorded, and where to go on.
import { el } from "../../web/base/elements.js";
import { many } from "../../web/base/format.js";
import { frame } from "../base/frame.js";
import { api, events } from "../base/session.js";
import { textOf } from "../base/text.js";
import { withState } from "../parts/page.js";
import { errorText, notice, panel } from "../parts/panel.js";
import { rowsOf, startQuery } from "../parts/query.js";
import { result } from "../parts/result.js";
import { OVERVIEW, overviewCards } from "../start/cards.js";
import { COVERAGE, coverageList } from "../start/coverage.js";
import { FINDINGS, findingList } from "../start/findings.js";
import { reportSections } from "../start/sections.js";
import { readingBar } from "../start/traces.js";

const TRACES =
  "SELECT trace_id, path, rank, format, duration_ns, event_count, skipped_count\nFROM traces\n" +
  "ORDER BY rank, path";

const main = frame({ title: "Start", page: "start" });
const body = el("div", { class: "column-of-panels" });
const bar = readingBar();
let traces = [];
let findings = null;
let areFindingsWhole = false;

function draw(state) {
  traces = state.traces || [];
  if (state.status === "failed")
    body.replaceChildren(notice(state.error || "The traces cannot be read.", true));
  else if (state.status === "reading") drawReading(state);
  else drawOpen(state);
}

function drawReading({ progress }) {
  bar.show(progress);
  const about = "Pages open as soon as the traces are read.";
  body.replaceChildren(panel({ title: "Reading traces", about }, bar.element));
}

function drawOpen(state) {
  findings = findingList(() => traces);
  body.replaceChildren(
    pages(traces),
    filled({ title: "Overview", sql: OVERVIEW }, async () => {
      const rows = await rowsOf(OVERVIEW);
      return [el("div", { class: "cards" }, overviewCards(rows))];
    }),
    panel(
      { title: "Findings", sql: FINDINGS, about: "What rules found, gravest first." },
      findings.element,
      filling(async () => {
        findings.set((await api("/api/findings")).rows);
        areFindingsWhole = true;
        return [];
      }),
    ),
    filled(
      { title: "Coverage", sql: COVERAGE, about: "What was not recorded, and how to record it." },
      async () => coverageList(await rowsOf(COVERAGE)),
    ),
    filled({ title: `Traces (${traces.length})`, sql: TRACES }, async () => {
      const answer = await startQuery(TRACES).answer;
      return [result(answer, { traces, name: "traces" }).element];
    }),
    panel(
      { title: "Report", about: "What the report computes, with the SQL of each section." },
      el("p", {}, el("a", { href: "/report" }, "Open the report")),
      reportSections(),
    ),
    ...settings(state.settings_changed || []),
  );
}

/** A panel whose content comes later. */
function filled(about, make) {
  return panel(about, filling(make));
}

function filling(make) {
  const place = el(
    "div",
    { "aria-busy": "true" },
    el("p", { class: "quiet small" }, "Computing …"),
  );
  const show = (nodes) => {
    place.setAttribute("aria-busy", "false");
    place.replaceChildren(...nodes);
  };
  make().then(show, (error) => show([notice(errorText(error), true)]));
  return place;
}

const PAGES = [
  ["/timeline", "Timeline", "Threads, streams and counters over time"],
  ["/sql", "SQL", "Ask the tables and views"],
  ["/report", "Report", "Steps, operators, kernels, memory, ranks"],
  ["/stacks", "Stacks", "Flame graph and callers"],
  ["/views", "Views", "What there is to ask"],
];

function pages(list) {
  const compare = ["/compare", "Compare", "Where two traces differ"];
  const all = list.length > 1 ? [...PAGES, compare] : PAGES;
  const link = ([href, title, about]) =>
    el(
      "a",
      { class: "card go", href },
      el("strong", {}, title),
      el("span", { class: "note" }, about),
    );
  return el("nav", { class: "cards", "aria-label": "Go on" }, all.map(link));
}

function settings(changed) {
  if (!changed.length) return [];
  const line = ({ name, value, default: own }) =>
    el(
      "li",
      {},
      el("code", {}, name),
      " = ",
      textOf(value, 200),
      el("span", { class: "quiet" }, ` (default ${own})`),
    );
  const title = many(changed.length, "changed setting");
  return [panel({ title }, el("ul", { class: "plain-list" }, changed.map(line)))];
}

main.append(body);
withState(draw).catch((error) => body.append(notice(errorText(error), true)));
events((name, data) => {
  if (name === "progress") bar.show(data);
  if (name === "finding" && findings && !areFindingsWhole) findings.add(data);
});
