// A result: its table with tools to sort, filter, copy and save the rows that are shown.
import { el } from "../../web/base/elements.js";
import { grouped, many } from "../../web/base/format.js";
import { copyText, csv, saveBlob, tsv } from "./csv.js";
import { grid } from "./grid.js";
import { locator } from "./links.js";
import { notice } from "./panel.js";
import { record } from "./record.js";
import { compareValues, exactText, shown } from "./values.js";

/**
 * A result as { element, rows() }: rows() are the rows in sight, filtered and sorted.
 *
 * @param {object} answer of /api/query: columns, rows, row_count, truncated, why
 * @param {object} options
 * @param {Array} options.traces those of /api/state, to find rows in the timeline
 * @param {string} options.name the name of saved files, without an ending
 * @param {Array} [options.tools] more elements for the line of tools
 * @param {object} [options.chosen] { sort, filter } from the address: a column, with a minus in
 *     front for downwards, and a text
 * @param {Function} [options.change] ({ sort, filter }) is called when the reader chooses
 */
export function result(answer, { traces, name, tools = [], chosen = {}, change = () => {} }) {
  const { columns, rows } = answer;
  const view = { order: orderOf(columns, chosen.sort), text: chosen.filter || "", rows };
  const place = locator(columns, traces);
  const recordBox = el("div");
  const table = grid({
    columns,
    rows,
    label: `Result with ${many(rows.length, "row")}`,
    sort: reorder,
    place,
    choose: (row) =>
      recordBox.replaceChildren(...(row ? [record(columns, row, place && place(row))] : [])),
  });

  const count = el("span", { class: "count", role: "status" });
  const filter = el("input", {
    type: "search",
    placeholder: "Filter the rows shown",
    value: view.text,
    "aria-label": "Filter the rows shown",
    title: "Rows with this text in any column. Only the rows shown here are searched.",
    oninput: () => {
      view.text = filter.value;
      tell();
      update();
    },
  });
  const exact = el("input", { type: "checkbox", onchange: () => table.setExact(exact.checked) });

  function reorder(at) {
    const same = view.order && view.order.at === at;
    // Down, up, and then the order of the result again.
    if (same && !view.order.isDown) view.order = null;
    else view.order = { at, isDown: !same };
    tell();
    update();
  }

  function tell() {
    const { order, text } = view;
    const sort = order && `${order.isDown ? "-" : ""}${columns[order.at].name}`;
    change({ sort: sort || null, filter: text || null });
  }

  function update() {
    const wanted = view.text.toLowerCase();
    const isIn = (value, at) => matches(value, columns[at], wanted);
    const found = wanted ? rows.filter((row) => row.some(isIn)) : rows.slice();
    if (view.order) {
      const { at, isDown } = view.order;
      found.sort((a, b) => compareValues(a[at], b[at], isDown ? -1 : 1));
    }
    view.rows = found;
    table.show(found, view.order);
    count.textContent = countText();
  }

  function countText() {
    const part = view.rows.length === rows.length ? "" : `${grouped(view.rows.length)} of `;
    return `${part}${many(rows.length, "row")}${answer.truncated ? " shown" : ""}`;
  }

  const button = (text, title, act) => {
    const made = el("button", { type: "button", class: "ghost", title }, text);
    made.addEventListener("click", () => act(made));
    return made;
  };
  const copy = button("Copy", "The rows shown, tab-separated and exact", (own) =>
    copyText(tsv(columns, view.rows), own),
  );
  const save = button("CSV", "The rows shown, exact", () =>
    saveBlob(`${name}.csv`, new Blob([csv(columns, view.rows)], { type: "text/csv" })),
  );

  if (view.order || view.text) update();
  else count.textContent = countText();
  const element = el(
    "div",
    { class: "result" },
    el(
      "div",
      { class: "tools" },
      rows.length > 1 ? filter : null,
      count,
      el("label", { class: "option" }, exact, "Exact values"),
      copy,
      save,
      tools,
    ),
    answer.truncated ? notice(truncation(answer)) : null,
    rows.length ? table.element : el("p", { class: "quiet empty" }, emptyText(columns)),
    recordBox,
  );
  return { element, rows: () => view.rows };
}

function matches(value, column, text) {
  if (value === null || value === undefined) return false;
  if (exactText(value).toLowerCase().includes(text)) return true;
  return shown(value, column).toLowerCase().includes(text);
}

function orderOf(columns, sort) {
  if (!sort) return null;
  const isDown = sort.startsWith("-");
  const at = columns.findIndex((c) => c.name === (isDown ? sort.slice(1) : sort));
  return at < 0 ? null : { at, isDown };
}

function truncation({ why, rows }) {
  const because = why ? `: ${why}` : "";
  return (
    `Only the first ${many(rows.length, "row")} of the result are here${because}. Sorting, ` +
    "filtering, copies and charts are of these rows only."
  );
}

const emptyText = (columns) =>
  columns.length ? `No rows. Columns: ${columns.map((c) => c.name).join(", ")}` : "No rows.";
