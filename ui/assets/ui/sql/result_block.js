// One result on the SQL page: rows or a chart, with summaries of the columns beside them.
import { el } from "../../web/base/elements.js";
import { bytes, grouped } from "../../web/base/format.js";
import { resultChart } from "../charts/result_chart.js";
import { canBeTrack, stacksLink, trackLink } from "../parts/links.js";
import { result } from "../parts/result.js";
import { isNumber } from "../parts/values.js";
import { exportChoice } from "./export.js";
import { summaries } from "./summaries.js";

/**
 * A result, as { element, stop() }.
 *
 * @param {object} run { sql, parameters, answer }
 * @param {object} options
 * @param {Array} options.traces those of /api/state
 * @param {object} options.chosen what the address says: { kind, x, y, by } of the chart, { sort,
 *     filter } of the table, { show } which of the two
 * @param {Function} options.change is called with those that the reader changes
 */
export function resultBlock({ sql, parameters, answer }, options) {
  const status = el("span", { class: "quiet small", role: "status" });
  const say = (text, isBad) => {
    status.textContent = text;
    status.classList.toggle("bad", Boolean(isBad));
  };
  const { traces, chosen, change } = options;
  const tools = [exportChoice(sql, parameters, say), ...onwards(sql, answer), status];
  const table = result(answer, { traces, name: "result", tools, chosen, change });
  const own = answer.columns.length && answer.rows.length;
  const columns = own ? summaries(sql, parameters, answer) : null;
  const chart = own ? resultChart(answer.columns, table.rows, chosen, change) : null;

  const parts = [
    ["Table", table.element],
    ["Chart", chart && chart.element],
  ].filter(([, element]) => element);
  const buttons = parts.map(([title], at) => {
    const made = el("button", { type: "button", class: "ghost" }, title);
    made.addEventListener("click", () => {
      choose(at);
      change({ show: at === 1 ? "chart" : null });
    });
    return made;
  });

  function choose(at) {
    parts.forEach(([, element], i) => {
      element.hidden = i !== at;
      buttons[i].setAttribute("aria-pressed", String(i === at));
    });
    if (at === 1) chart.draw();
  }

  choose(chosen.show === "chart" && chart ? 1 : 0);
  const views = el("div", { class: "segments", role: "group", "aria-label": "Show as" }, buttons);
  const element = el(
    "div",
    { class: "result-block" },
    el(
      "div",
      { class: "result-head" },
      parts.length > 1 ? views : null,
      el("span", { class: "quiet small" }, cost(answer)),
    ),
    el(
      "div",
      { class: "result-body" },
      el(
        "div",
        { class: "result-main" },
        parts.map(([, part]) => part),
      ),
      columns ? columns.element : null,
    ),
  );
  return { element, stop: () => columns && columns.stop() };
}

// Where else the rows of a statement can be shown.
function onwards(sql, { columns }) {
  const link = (href, text, title) => el("a", { class: "ghost button", href, title }, text);
  const hasStacks = columns.some((c) => c.name === "stack") && columns.some(isNumber);
  return [
    canBeTrack(columns) && link(trackLink(sql), "As a track", "These rows in the timeline"),
    hasStacks && link(stacksLink(sql), "As stacks", "These stacks as a flame graph"),
  ].filter(Boolean);
}

function cost({ elapsed_ms: ms, rows_read: rows, bytes_read: size, row_count: count }) {
  const parts = [`${Number(ms).toLocaleString("en-US", { maximumFractionDigits: 1 })} ms`];
  if (count !== undefined && count !== null) parts.unshift(`${grouped(count)} in the result`);
  if (rows) parts.push(`${grouped(rows)} rows read`);
  if (size) parts.push(bytes(size));
  return parts.join(" · ");
}
