// A table of a few hundred rows for the drawer, with sorting by a click, exact values and CSV.
import { el } from "../../web/base/elements.js";
import { exact, human, words } from "../../web/base/format.js";
import { textOf, visible } from "../base/text.js";

const MAX_ROWS = 400;

// NULL comes last in both directions.
function compare(at, isDown) {
  const sign = isDown ? -1 : 1;
  return (a, b) => {
    const [x, y] = [a[at], b[at]];
    if (x === null || y === null) return (x === null) - (y === null);
    if (typeof x === "number" && typeof y === "number") return sign * (x - y);
    return sign * String(x).localeCompare(String(y), "en", { numeric: true });
  };
}

/** Columns with rows as CSV. */
export function csvOf(columns, rows) {
  const cell = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = [columns.map((c) => c.name), ...rows].map((line) => line.map(cell).join(","));
  return `${lines.join("\r\n")}\r\n`;
}

/** Saves a text as a file. */
export function saveText(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const anchor = el("a", { href: url, download: name });
  document.body.append(anchor);
  anchor.click();
  anchor.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/**
 * A table with a caption. `columns` are { name, unit }, `rows` arrays; `file` is the name of the
 * CSV, and `pick(row)` is called for a click on a row.
 */
export function simpleTable({ caption, columns, rows, file, note, pick }) {
  const body = el("tbody");
  const isText = (c) => c.unit === "text" || c.unit === undefined;
  let order = null;
  const heads = columns.map((c, at) =>
    el(
      "th",
      { scope: "col", class: isText(c) ? "text" : "" },
      el(
        "button",
        { type: "button", onclick: () => sortBy(at), title: `${c.name} (${c.unit || "text"})` },
        c.title || words(c.name),
      ),
    ),
  );

  function sortBy(at) {
    order = { at, isDown: order?.at === at ? !order.isDown : !isText(columns[at]) };
    heads.forEach((head, i) => {
      if (i === at) head.setAttribute("aria-sort", order.isDown ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    draw();
  }

  function draw() {
    const sorted = order ? rows.slice().sort(compare(order.at, order.isDown)) : rows;
    body.replaceChildren(...sorted.slice(0, MAX_ROWS).map(line));
  }

  function line(row) {
    const cells = columns.map((c, i) => cell(c, row[i]));
    if (!pick) return el("tr", {}, cells);
    return el("tr", { class: "tl-pick", onclick: () => pick(row) }, cells);
  }

  function cell(column, value) {
    if (value === null || value === undefined) return el("td", { class: "none" }, "–");
    if (!isText(column))
      return el("td", { title: exact(value, column.unit) }, human(value, column.unit));
    return el("td", { class: "text", title: visible(value, 600) }, textOf(value, 300));
  }

  draw();
  const left = rows.length > MAX_ROWS ? ` The first ${MAX_ROWS} of ${rows.length} are shown.` : "";
  const save = () => saveText(file, "text/csv", csvOf(columns, rows));
  return el(
    "section",
    { class: "tl-table" },
    el(
      "div",
      { class: "tl-table-head" },
      el("h3", {}, caption),
      el("span", { class: "quiet small" }, `${note || ""}${left}`),
      el("button", { type: "button", class: "ghost small", onclick: save }, "CSV"),
    ),
    el(
      "div",
      { class: "grid tl-grid", tabindex: "0", role: "group", "aria-label": caption },
      el("table", {}, el("thead", {}, el("tr", {}, heads)), body),
    ),
  );
}
