// Two traces side by side: tables of differences with a base and a candidate. The address holds
// both and the table.
import { el } from "../../web/base/elements.js";
import { onState, setState, state } from "../base/address.js";
import { frame } from "../base/frame.js";
import { textOf } from "../base/text.js";
import { TABLES, statementOf } from "../compare/tables.js";
import { turned } from "../compare/turned.js";
import { viewLink } from "../parts/links.js";
import { withState } from "../parts/page.js";
import { errorText, notice, panel, queryOf } from "../parts/panel.js";
import { literal, rowsOf, startQuery } from "../parts/query.js";
import { result } from "../parts/result.js";
import { traceTitle } from "../stacks/choices.js";

const SIDES = "SELECT side, path, rank FROM compare_sides ORDER BY side, rank";
const FIRST_PAIR =
  "SELECT base_trace_id, cand_trace_id FROM compare_pairs ORDER BY base_path, cand_path LIMIT 1";

const TURNED_NOTE =
  "The view puts these traces together the other way round; here their places and the signs are " +
  "exchanged.";

const main = frame({ title: "Compare", page: "compare" });
const body = el("div", { class: "column-of-panels" });
main.append(body);
const view = { traces: [], first: null, run: null };

function draw({ status, error, traces }) {
  view.traces = traces || [];
  if (status === "failed")
    body.replaceChildren(notice(error || "The traces cannot be read.", true));
  else if (status === "reading")
    body.replaceChildren(notice("The traces are being read. Then they can be compared."));
  else if (view.traces.length < 2) body.replaceChildren(onlyOne(view.traces[0]));
  else open();
}

function onlyOne(trace) {
  const name = trace ? traceTitle(trace) : null;
  return panel(
    { title: "Two traces are needed" },
    el(
      "p",
      {},
      name ? `Only ${name} is open. ` : "No trace is open. ",
      "To compare, start with both:",
    ),
    el("pre", { class: "sql-text" }, "tracesql ui BASE.json CANDIDATE.json"),
    el("p", { class: "quiet" }, "A folder, a glob or a store with several traces does too."),
  );
}

async function open() {
  body.replaceChildren(el("p", { class: "quiet small" }, "Computing …"));
  try {
    const [{ trace_id: one }, { trace_id: other }] = view.traces;
    const [pair] = await rowsOf(FIRST_PAIR);
    view.first = pair || { base_trace_id: one, cand_trace_id: other };
  } catch (error) {
    body.replaceChildren(notice(errorText(error), true));
    return;
  }
  drawPage();
}

// The base and the candidate of the address, else the first pair.
function chosen() {
  const { base, cand } = state();
  const isKnown = (id) => view.traces.some((t) => t.trace_id === id);
  return {
    base: isKnown(base) ? base : view.first.base_trace_id,
    cand: isKnown(cand) ? cand : view.first.cand_trace_id,
  };
}

function drawPage() {
  const pair = chosen();
  const table = TABLES.find((t) => t.key === state().table) || TABLES[0];
  document.title = `${table.title} · Compare · tracesql`;
  body.replaceChildren(unknown(), header(pair), tabs(table), tablePanel(table, pair));
}

// What the address names and does not exist: something else is shown.
function unknown() {
  const { base, cand, table } = state();
  const isTrace = (id) => view.traces.some((t) => t.trace_id === id);
  const names = [base, cand].filter((id) => id !== undefined && !isTrace(id));
  const list = names.map((id) => notice(`The address names a trace that is not open: ${id}.`, true));
  if (table !== undefined && !TABLES.some((t) => t.key === table))
    list.push(notice(`There is no table ${table}.`, true));
  return el("div", {}, ...list);
}

function header(pair) {
  const select = (key, label) => {
    const own = el("select", { "aria-label": label });
    own.append(...view.traces.map((t) => option(t, pair[key])));
    own.addEventListener("change", () => go({ ...pair, [key]: own.value }));
    return el("label", { class: "option" }, label, own);
  };
  const swap = el("button", { type: "button", class: "ghost" }, "Swap");
  swap.addEventListener("click", () => go({ base: pair.cand, cand: pair.base }));
  return el(
    "div",
    { class: "compare-sides" },
    select("base", "Base"),
    swap,
    select("cand", "Candidate"),
  );
}

const option = (trace, chosenId) =>
  el("option", { value: trace.trace_id, selected: trace.trace_id === chosenId }, traceTitle(trace));

function go(changes) {
  setState(changes);
  drawPage();
}

function tabs(table) {
  const button = (t) =>
    el(
      "button",
      {
        type: "button",
        role: "tab",
        "aria-selected": t === table,
        "aria-controls": "comparison",
        tabindex: t === table ? "0" : "-1",
        onclick: () => go({ table: t.key }),
        onkeydown: (event) => move(event, t),
      },
      t.title,
    );
  return el("div", { class: "tabs", role: "tablist", "aria-label": "Tables" }, TABLES.map(button));
}

function move(event, table) {
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!by) return;
  go({ table: TABLES[(TABLES.indexOf(table) + by + TABLES.length) % TABLES.length].key });
  body.querySelector('[role="tab"][aria-selected="true"]').focus();
}

function tablePanel(table, pair) {
  const about = el("p", { class: "small quiet" }, table.about, " ");
  about.append(el("a", { href: viewLink(table.view) }, el("code", {}, table.view)));
  const query = el("div", {});
  const place = el(
    "div",
    { "aria-busy": "true" },
    el("p", { class: "quiet small" }, "Computing …"),
  );
  const own = panel({ title: table.title, id: "comparison" }, about, place);
  own.setAttribute("role", "tabpanel");
  own.querySelector("header").append(query);
  fill(place, query, table, pair);
  return own;
}

/**
 * Which way round the views have two traces: they put each pair together in one direction only.
 * Gives { isTurned }, or { reason } if they are no pair.
 */
async function direction({ base, cand }) {
  if (base === cand)
    return { reason: "The base and the candidate are the same trace: choose two." };
  const both = `${literal(base)}, ${literal(cand)}`;
  const [found] = await rowsOf(
    `SELECT base_trace_id FROM compare_pairs WHERE base_trace_id IN (${both}) ` +
      `AND cand_trace_id IN (${both}) ORDER BY base_trace_id = ${literal(base)} DESC LIMIT 1`,
  );
  const reason = "The settings compare_base and compare_candidate do not make these traces a pair.";
  return found ? { isTurned: found.base_trace_id !== base } : { reason };
}

async function fill(place, query, table, { base, cand }) {
  if (view.run) view.run.cancel();
  view.run = null;
  const show = (...nodes) => {
    place.setAttribute("aria-busy", "false");
    place.replaceChildren(...nodes.filter(Boolean));
  };
  try {
    const { isTurned, reason } = await (table.isOfSides ? {} : direction({ base, cand }));
    if (reason) {
      show(notice(reason));
      return;
    }
    if (!place.isConnected) return;
    const sql = isTurned ? statementOf(table, cand, base) : statementOf(table, base, cand);
    query.replaceWith(queryOf(sql));
    view.run = startQuery(sql);
    const answer = await view.run.answer;
    const sides = table.isOfSides ? await sidesNote() : null;
    const turn = isTurned ? el("p", { class: "small quiet" }, TURNED_NOTE) : null;
    const shown = isTurned ? turned(answer) : answer;
    show(sides, turn, result(shown, { traces: view.traces, name: table.view }).element);
    view.run = null;
  } catch (error) {
    if (error.name !== "AbortError") show(notice(errorText(error), true));
  }
}

async function sidesNote() {
  const rows = await rowsOf(SIDES);
  const side = (name) => {
    const own = rows.filter((row) => row.side === name);
    return [
      el("dt", {}, name),
      el(
        "dd",
        {},
        own.map((row) => el("div", {}, textOf(row.path, 300))),
      ),
    ];
  };
  return el("dl", { class: "pairs small" }, side("base"), side("candidate"));
}

withState(draw).catch((error) => body.append(notice(errorText(error), true)));
onState(() => view.first && drawPage());
