// The table of a result. The page contains only the rows in sight, so 10,000 rows stay fast.
import { el } from "../../web/base/elements.js";
import { font } from "../../web/charts/theme.js";
import { visible } from "../base/text.js";
import { exactValue, isNumber, shown } from "./values.js";

const ROW_HEIGHT = 27;
/** Rows that are kept above and below those in sight. Few, and soon filled again, so that no frame
 *  has to fill many. */
const SPARE = 12;
/** So many rows, from all over the result, decide about the width of a column. */
const MEASURED_ROWS = 100;
const [MIN_WIDTH, MAX_WIDTH] = [58, 340];
/** Texts up to this width always fit. */
const ENOUGH = 170;
const PADDING = 24;

let pen = null;

function widthOf(text, weight) {
  pen = pen || document.createElement("canvas").getContext("2d");
  pen.font = font(13, weight);
  return pen.measureText(text.slice(0, 80)).width;
}

function columnWidth(column, at, rows, text, maxWidth) {
  const every = Math.max(1, Math.floor(rows.length / MEASURED_ROWS));
  const some = rows.filter((_, i) => i % every === 0);
  const cells = some.map((row) => widthOf(text(row[at], column), "normal"));
  const head = widthOf(column.name, "600") + (hasUnit(column) ? widthOf(column.unit, "normal") : 0);
  const widest = cells.sort((a, b) => a - b).at(-1) || 0;
  // A few long texts do not take the room of the other columns.
  const most = cells[Math.floor(0.9 * (cells.length - 1))] || 0;
  const usual = isNumber(column) ? widest : Math.max(most, Math.min(widest, ENOUGH));
  const wanted = Math.max(head + 22, usual);
  return Math.ceil(Math.min(Math.max(wanted + PADDING, MIN_WIDTH), maxWidth));
}

const hasUnit = ({ unit }) => Boolean(unit) && !["text", "id", "flag", "list"].includes(unit);

/**
 * A table of rows, as { element, show(rows, order), setExact(isExact), choose(at) }.
 *
 * @param {object} table
 * @param {Array} table.columns { name, type, unit }
 * @param {Array} table.rows arrays in the order of the columns
 * @param {string} table.label what screen readers say
 * @param {Function} [table.sort] (number of a column) is called by a click on its title
 * @param {Function} [table.choose] (row or null) is called when a row is chosen
 * @param {number} [table.maxWidth] of columns, in pixels
 * @param {Function} [table.place] (row) gives the row's address in the timeline, or null
 */
export function grid({ columns, rows, label, sort, choose, place, maxWidth = MAX_WIDTH }) {
  const widest = Math.min(maxWidth, Math.max(150, 0.42 * innerWidth));
  const view = { rows, first: 0, last: 0, chosen: null, text: shown };
  const lines = new Map();
  const owners = new WeakMap();
  const kinds = columns.map((c) => (isNumber(c) ? "number" : "text"));
  const [top, bottom] = [space(), space()];
  const body = el("tbody", {}, top, bottom);
  const heads = columns.map(head);
  const table = el(
    "table",
    { role: "grid", "aria-label": label },
    columnGroup(),
    el("thead", {}, headRow()),
    body,
  );
  table.setAttribute("aria-rowcount", String(rows.length + 1));
  const element = el("div", { class: "result-grid", tabindex: "0" }, table);
  const spoken = el("span", { class: "unseen", role: "status" });
  element.prepend(spoken);
  element.setAttribute("role", "group");
  element.setAttribute("aria-label", `${label}; arrow keys choose a row`);
  element.addEventListener("scroll", () => requestAnimationFrame(draw), { passive: true });
  element.addEventListener("keydown", key);
  new ResizeObserver(() => draw()).observe(element);

  function columnGroup() {
    const widths = columns.map((c, at) => columnWidth(c, at, rows, shown, widest));
    const all = place ? [34, ...widths] : widths;
    return el(
      "colgroup",
      {},
      all.map((width) => el("col", { width: `${width}px` })),
      el("col"),
    );
  }

  function head(column, at) {
    const unit = hasUnit(column) ? el("span", { class: "unit" }, column.unit) : null;
    const title = `${visible(column.name)}\n${column.type}${column.unit ? `, ${column.unit}` : ""}`;
    const name = el("bdi", {}, visible(column.name, 200));
    const content = sort
      ? el("button", { type: "button", title, onclick: () => sort(at) }, name, unit)
      : el("span", { class: "head", title }, name, unit);
    return el("th", { scope: "col", class: isNumber(column) ? "number" : "" }, content);
  }

  function headRow() {
    const link = place
      ? el("th", { scope: "col" }, el("span", { class: "unseen" }, "Timeline"))
      : null;
    return el("tr", { "aria-rowindex": "1" }, link, heads, el("th", { "aria-hidden": "true" }));
  }

  // Rows that leave are filled again for those that come: making elements costs the most.
  function makeLine() {
    const link = place ? el("td", { class: "place" }) : null;
    const cells = columns.map(() => el("td", {}, ""));
    const tr = el("tr", {}, link, cells, el("td", { class: "filler" }));
    const made = { tr, link, cells, at: -1 };
    owners.set(tr, made);
    return made;
  }

  function fill(own, at) {
    const row = view.rows[at];
    own.at = at;
    own.tr.setAttribute("aria-rowindex", String(at + 2));
    own.tr.setAttribute("aria-selected", String(view.chosen === row));
    if (own.link) own.link.replaceChildren(...placeLink(row));
    own.cells.forEach((cell, i) => {
      const value = row[i];
      const isNone = value === null || value === undefined;
      cell.className = kinds[i] + (isNone ? " none" : "");
      cell.firstChild.nodeValue = view.text(value, columns[i]);
      if (cell.title) cell.removeAttribute("title");
    });
    return own;
  }

  function placeLink(row) {
    const href = place(row);
    if (!href) return [];
    const name = "Show in the timeline";
    return [el("a", { href, title: name, "aria-label": name }, "→")];
  }

  const lineOf = (event) => owners.get(event.target.closest("tr"));

  body.addEventListener("click", (event) => {
    const own = lineOf(event);
    if (!own || event.target.closest("a") || getSelection().toString()) return;
    select(view.rows[own.at], true);
  });

  // Tooltips are made when they are needed: most cells are only passed by.
  body.addEventListener("pointerover", (event) => {
    const own = lineOf(event);
    const at = own ? own.cells.indexOf(event.target) : -1;
    if (at >= 0) event.target.title = exactValue(view.rows[own.at][at], columns[at]);
  });

  function draw() {
    const height = element.clientHeight || 400;
    const first = Math.max(0, Math.floor(element.scrollTop / ROW_HEIGHT) - 2);
    const last = Math.min(view.rows.length, first + Math.ceil(height / ROW_HEIGHT) + 4);
    const isNear = first - view.first < SPARE / 2 && view.first > 0;
    const isNearEnd = view.last - last < SPARE / 2 && view.last < view.rows.length;
    if (lines.size && !isNear && !isNearEnd) return;
    view.first = Math.max(0, first - SPARE);
    view.last = Math.min(view.rows.length, last + SPARE);
    const free = [];
    for (const [at, own] of lines) {
      if (at >= view.first && at < view.last) continue;
      lines.delete(at);
      free.push(own);
    }
    let before = bottom;
    for (let at = view.last - 1; at >= view.first; at -= 1) {
      if (!lines.has(at)) {
        const own = fill(free.pop() || makeLine(), at);
        lines.set(at, own);
        body.insertBefore(own.tr, before);
      }
      before = lines.get(at).tr;
    }
    for (const { tr } of free) tr.remove();
    setSpace(top, view.first);
    setSpace(bottom, view.rows.length - view.last);
  }

  function setSpace(line, count) {
    line.hidden = count <= 0;
    line.firstChild.style.height = `${count * ROW_HEIGHT}px`;
  }

  function space() {
    const cell = el("td", { colspan: columns.length + (place ? 2 : 1) });
    return el("tr", { class: "space", "aria-hidden": "true", hidden: true }, cell);
  }

  function redraw() {
    for (const { tr } of lines.values()) tr.remove();
    lines.clear();
    draw();
  }

  // Only the marks of the rows change.
  function markChosen() {
    for (const { tr, at } of lines.values())
      tr.setAttribute("aria-selected", String(view.rows[at] === view.chosen));
  }

  function select(row, canClear) {
    view.chosen = canClear && view.chosen === row ? null : row;
    markChosen();
    if (choose) choose(view.chosen);
  }

  function key(event) {
    if (event.target !== element) return;
    const page = Math.max(1, Math.floor(element.clientHeight / ROW_HEIGHT) - 2);
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page }[event.key];
    if (!by || !view.rows.length || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const at = view.chosen ? view.rows.indexOf(view.chosen) + by : 0;
    const next = Math.min(Math.max(at, 0), view.rows.length - 1);
    bringIntoSight(next);
    select(view.rows[next], false);
    const texts = view.rows[next].slice(0, 4).map((v, i) => view.text(v, columns[i]));
    spoken.textContent = `Row ${next + 1} of ${view.rows.length}: ${texts.join(", ")}`;
  }

  function bringIntoSight(at) {
    const [top, room] = [at * ROW_HEIGHT, element.clientHeight - 2 * ROW_HEIGHT];
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top > element.scrollTop + room) element.scrollTop = top - room;
  }

  /** Shows other rows of the same columns; `order` is { at, isDown } or null. */
  function show(next, order) {
    view.rows = next;
    table.setAttribute("aria-rowcount", String(next.length + 1));
    heads.forEach((th, at) => {
      if (order && order.at === at)
        th.setAttribute("aria-sort", order.isDown ? "descending" : "ascending");
      else th.removeAttribute("aria-sort");
    });
    element.scrollTop = 0;
    redraw();
  }

  /** Shows exact values instead of short ones, or short ones again. */
  function setExact(isExact) {
    view.text = isExact ? exactOrNull : shown;
    const widths = columns.map((c, at) => columnWidth(c, at, view.rows, view.text, widest));
    const cols = [...table.querySelectorAll("col")].slice(place ? 1 : 0);
    widths.forEach((width, at) => {
      cols[at].style.width = `${width}px`;
    });
    redraw();
  }

  requestAnimationFrame(draw);
  return { element, show, setExact };
}

const exactOrNull = (value, column) => visible(exactValue(value, column), 500);
