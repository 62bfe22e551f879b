// Summaries of the columns of a result: how many values, NULLs and different values, and how they
// are spread. They are of the whole result: where the page holds only its first rows, the server
// computes them.
import { el } from "../../web/base/elements.js";
import { grouped, many, pct } from "../../web/base/format.js";
import { api } from "../base/session.js";
import { visible } from "../base/text.js";
import { exactValue, isInstant, isNumber, shown } from "../parts/values.js";
import { summaryOf } from "./local_summary.js";

/** Requests at a time; the server answers queries of the page with the rest. */
const AT_ONCE = 2;
/** Further columns are summed up on demand. */
const FIRST = 24;

/** The summaries of an answer of POST /api/query, as { element, stop() }. */
export function summaries(sql, parameters, { columns, rows, truncated }) {
  const stop = new AbortController();
  const boxes = columns.map((column, at) => ({ column, at, box: columnBox(column) }));
  const waiting = boxes.slice(0, FIRST);
  const rest = boxes.slice(FIRST);
  const list = el(
    "div",
    { class: "summaries" },
    waiting.map((b) => b.box.element),
  );

  async function work() {
    for (let next = waiting.shift(); next && !stop.signal.aborted; next = waiting.shift()) {
      try {
        next.box.show(await summary(next));
      } catch (error) {
        if (error.name !== "AbortError") next.box.show({ skipped: error.message });
      }
    }
  }

  async function summary({ column, at }) {
    if (!truncated) {
      // The table is drawn first, and the page answers between two columns.
      await idle();
      return summaryOf(column, rows, at);
    }
    const body = { sql, parameters, column: column.name };
    return api("/api/summary", body, { signal: stop.signal });
  }

  function start() {
    for (let i = 0; i < AT_ONCE; i += 1) work();
  }

  if (rest.length) list.append(moreButton());
  function moreButton() {
    const button = el("button", { type: "button", class: "ghost" }, `${rest.length} more columns`);
    button.addEventListener("click", () => {
      button.replaceWith(...rest.map((b) => b.box.element));
      waiting.push(...rest);
      start();
    });
    return button;
  }

  start();
  const about = truncated
    ? "Of the whole result, by the server. A summary that takes more than 200 ms is left out."
    : "Of the whole result.";
  const element = el(
    "aside",
    { class: "summary-panel", "aria-label": "Summaries of the columns" },
    el("h3", { title: about }, "Columns"),
    list,
  );
  return { element, stop: () => stop.abort() };
}

const idle = () =>
  new Promise((done) => {
    if (window.requestIdleCallback) requestIdleCallback(done, { timeout: 500 });
    else setTimeout(done, 50);
  });

function columnBox(column) {
  const type = [column.type, column.unit].filter(Boolean).join(", ");
  const body = el("div", { class: "summary-body quiet" }, "…");
  const element = el(
    "section",
    { class: "summary" },
    el("div", { class: "summary-head" }, el("bdi", {}, visible(column.name, 80)), quiet(type)),
    body,
  );
  const show = (answer) => {
    body.classList.remove("quiet");
    body.replaceChildren(...(answer.skipped ? [quiet(skipped(answer))] : content(column, answer)));
  };
  return { element, show };
}

const quiet = (text) => el("span", { class: "quiet small" }, text);
const skipped = ({ skipped: why }) => `Left out: ${visible(why, 200)}`;

function content(column, answer) {
  return [counts(answer), histogram(column, answer), commonest(column, answer)].filter(Boolean);
}

function counts({ count, nulls, distinct, is_approximate: isApproximate }) {
  const all = Number(count) || 0;
  const none = nulls ? ` · NULL ${pct((100 * Number(nulls)) / (all || 1))}` : "";
  const about = isApproximate ? "about " : "";
  const different = distinct === null ? "" : ` · ${about}${grouped(distinct)} different`;
  const text = `${many(count, "row")}${none}${different}`;
  return el("div", { class: "small quiet", title: `NULL: ${grouped(nulls || 0)} rows` }, text);
}

function histogram(column, { buckets, min, max, quantiles }) {
  if (!buckets || !buckets.length) return range(column, min, max);
  const most = buckets.reduce((a, [, , n]) => Math.max(a, Number(n)), 1);
  const bar = ([from, to, n]) => {
    const title = `${exactValue(from, column)} to ${exactValue(to, column)}: ${many(n, "row")}`;
    const fill = el("b", { height: n ? `${Math.max(4, (100 * Number(n)) / most)}%` : "0" });
    return el("i", { title }, fill);
  };
  const quantileText = (quantiles || [])
    .map((value, i) => `${["5", "25", "50", "75", "95"][i]} %: ${exactValue(value, column)}`)
    .join("\n");
  const label = `Spread from ${shown(min, column)} to ${shown(max, column)}`;
  return el(
    "div",
    {},
    el("div", { class: "spread", role: "img", "aria-label": label }, buckets.map(bar)),
    range(column, min, max, medianOf(column, quantiles), quantileText),
  );
}

// Points in time are too long for a third value on the line.
const medianOf = (column, quantiles) =>
  quantiles && !isInstant(column) ? shown(quantiles[2], column) : null;

function range(column, min, max, median, title) {
  if (min === null || min === undefined || !isNumber(column)) return null;
  return el(
    "div",
    { class: "summary-range small", title: title || null },
    el("span", { title: exactValue(min, column) }, shown(min, column)),
    median ? el("span", { class: "quiet" }, `median ${median}`) : null,
    el("span", { title: exactValue(max, column) }, shown(max, column)),
  );
}

function commonest(column, { values, count, buckets }) {
  if (!values || !values.length || (buckets && buckets.length)) return null;
  const line = ([value, n]) => {
    const share = (100 * Number(n)) / (Number(count) || 1);
    return el(
      "li",
      { title: `${exactValue(value, column)}: ${many(n, "row")}, ${pct(share)}` },
      el("b", { width: `${Math.min(100, share)}%` }),
      el("bdi", {}, shown(value, column)),
      el("span", {}, grouped(n)),
    );
  };
  return el("ul", { class: "commonest" }, values.map(line));
}
