// A table that can be sorted, searched and saved. The page contains only the rows in sight, so
// tables with thousands of rows stay fast.
import { el, swatch } from "../../../../web/base/elements.js";
import { NONE, exact, grouped, human, many, words } from "../../../../web/base/format.js";
import { classPaint } from "./class_colours.js";
import { columnWidth, setWidths } from "./column_widths.js";
import { rest, rows, section, state } from "./data.js";
import { fitted } from "./names.js";
import { setItem } from "./navigation.js";
import { TOO_WIDE, withEdges } from "./scroll_hint.js";

const ROW_HEIGHT = 31;

/** Columns that belong to another one and have no place of their own. */
const HIDDEN = ["trace_id", "short_name"];

// options: only (names of columns, in order), titles, sort ([name, descending]), wide (texts wrap),
// swatch (classes of device work have their colour), label (the shown text of a name), more (what
// the record of a row has in addition), isLinked (the chosen row is part of the address)
export function tableOf(key, options = {}) {
  const { columns } = section(key);
  const wanted =
    options.only || columns.map((c) => c.name).filter((name) => !HIDDEN.includes(name));
  const list = wanted.map((name) => columns.find((c) => c.name === name)).filter(Boolean);
  const data = options.rows || rows(key);
  const used = list.filter((c) => data.some((row) => row[c.name] !== null));
  return dataTable({
    ...options,
    columns: used,
    rows: data,
    rest: options.rows ? undefined : rest(key),
    file: `${key}.csv`,
  });
}

export function dataTable({
  columns,
  rows,
  rest,
  file,
  titles = {},
  sort,
  wide = false,
  swatch: hasSwatch = false,
  label = (name) => name,
  more,
  isLinked = false,
}) {
  const view = {
    rows,
    order: sort ? { name: sort[0], down: sort[1] } : null,
    text: "",
    chosen: null,
  };
  const isText = (c) => c.type === "text" || c.type === "boolean";
  const isName = (c) =>
    c.type === "text" && ["name", "path", "op_name", "module_path"].includes(c.name);
  const heads = columns.map((c) =>
    el(
      "th",
      { class: isText(c) ? "text" : "", scope: "col" },
      el(
        "button",
        { type: "button", title: `${c.name} (${c.unit})`, onclick: () => reorder(c) },
        titles[c.name] || words(c.name),
      ),
    ),
  );
  const body = el("tbody");
  const cols = columns.map(() => el("col"));
  const table = el(
    "table",
    { class: wide ? "wrap" : "" },
    el("colgroup", {}, cols),
    el("thead", {}, el("tr", {}, heads)),
    body,
  );
  setWidths(table, cols, columns.map(widthOf));
  const grid = el(
    "div",
    {
      class: "grid",
      tabindex: "0",
      role: "group",
      "aria-label": file.replace(/\.csv$/, "").replaceAll("_", " "),
      onscroll: () => requestAnimationFrame(draw),
    },
    table,
  );
  const count = el("span", { class: "count", role: "status" });
  const search = el("input", {
    type: "search",
    placeholder: "Search",
    "aria-label": "Search the table",
    oninput: () => {
      view.text = search.value.toLowerCase();
      select();
    },
  });
  const record = el("div");
  const box = el(
    "div",
    { class: "table-box" },
    rows.length > 8 || rest
      ? el("div", { class: "tools" }, search, count, saveButton())
      : el("div", { class: "tools" }, count, saveButton()),
    withEdges(grid, TOO_WIDE),
    record,
  );

  function saveButton() {
    return el(
      "button",
      {
        type: "button",
        class: "ghost csv",
        onclick: () => save(file, "text/csv", csv(columns, view.rows)),
      },
      "CSV",
    );
  }

  // Names and texts that wrap share the room that the other columns leave.
  function widthOf(c) {
    const isShort = ["severity", "status", "code", "information"].includes(c.name);
    if (isName(c) || (wide && c.type === "text" && !isShort)) return null;
    const room = hasSwatch && c.name === "class" ? 16 : 0;
    return columnWidth(c, titles[c.name] || words(c.name), rows, room);
  }

  function reorder(c) {
    const again = view.order && view.order.name === c.name;
    view.order = { name: c.name, down: again ? !view.order.down : !isText(c) };
    select();
  }

  function select() {
    const found = view.text
      ? rows.filter((row) =>
          columns.some(
            (c) =>
              typeof row[c.name] === "string" &&
              (row[c.name].toLowerCase().includes(view.text) ||
                (isName(c) && label(row[c.name]).toLowerCase().includes(view.text))),
          ),
        )
      : rows.slice();
    if (view.order) found.sort(compare(view.order));
    view.rows = found;
    heads.forEach((head, i) => {
      if (view.order && view.order.name === columns[i].name)
        head.setAttribute("aria-sort", view.order.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    count.textContent = countOf(found);
    grid.scrollTop = 0;
    draw();
  }

  // How many rows match, how many the table has, and how many there are in all.
  function countOf(found) {
    const part = found.length === rows.length ? "" : `${grouped(found.length)} of `;
    const all = rest ? ` of ${grouped(rows.length + rest.rows)}; ` : "";
    const others = rest ? "the others are one row at the end" : "";
    return `${part}${many(rows.length, "row")}${all}${others}`;
  }

  function draw() {
    if (wide) {
      body.replaceChildren(...view.rows.map(line));
      return;
    }
    const first = Math.max(0, Math.floor(grid.scrollTop / ROW_HEIGHT) - 12);
    const last = Math.min(
      view.rows.length,
      first + Math.ceil((grid.clientHeight || 660) / ROW_HEIGHT) + 24,
    );
    const parts = [
      space(first),
      ...view.rows.slice(first, last).map(line),
      space(view.rows.length - last),
    ];
    if (rest && !view.text) parts.push(restLine());
    body.replaceChildren(...parts.filter(Boolean));
  }

  function space(count) {
    if (count <= 0) return null;
    const cell = el("td", { colspan: columns.length });
    cell.style.height = `${count * ROW_HEIGHT}px`;
    return el("tr", { class: "space", "aria-hidden": "true" }, cell);
  }

  function line(row) {
    return el(
      "tr",
      { "aria-selected": view.chosen === row, onclick: () => choose(row) },
      columns.map((c) => cell(c, row[c.name])),
    );
  }

  function cell(c, value) {
    const none = value === null || value === undefined;
    const kind = `${isText(c) ? "text" : ""}${isName(c) ? " name" : ""}${none ? " none" : ""}`;
    const title = isText(c) && !none ? String(value).slice(0, 600) : exact(value, c.unit);
    if (c.unit === "pct" && !none && value >= 0 && value <= 100.5) {
      return el(
        "td",
        { class: `${kind} share`, title },
        human(value, c.unit),
        el("i", {}, el("b", { width: `${Math.min(value, 100)}%` })),
      );
    }
    if (c.name === "device" && value < 0) return el("td", { class: kind, title }, "host");
    if (hasSwatch && c.name === "class" && !none)
      return el("td", { class: kind, title }, swatch(classPaint(value)), ` ${value}`);
    if (isName(c) && !none && !wide) return el("td", { class: kind, title }, fitted(label(value)));
    return el(
      "td",
      { class: kind, title },
      c.type === "boolean" && value === false ? NONE : human(value, c.unit),
    );
  }

  function restLine() {
    const cells = columns.map((c, i) =>
      i === 0
        ? el("td", { class: "text" }, `(${grouped(rest.rows)} others)`)
        : el(
            "td",
            { title: exact(rest.sums[c.name], c.unit) },
            rest.sums[c.name] === undefined ? "" : human(rest.sums[c.name], c.unit),
          ),
    );
    return el("tr", { class: "rest" }, cells);
  }

  function choose(row) {
    if (getSelection().toString()) return;
    view.chosen = view.chosen === row ? null : row;
    if (isLinked) setItem(view.chosen ? row.name : "");
    draw();
    showRecord();
  }

  // The whole row, with full names and exact values.
  function showRecord() {
    const row = view.chosen;
    if (!row) {
      record.replaceChildren();
      return;
    }
    const lines = columns.flatMap((c) => [
      el("dt", {}, words(c.name)),
      el("dd", {}, exact(row[c.name], c.unit)),
    ]);
    record.replaceChildren(
      el("dl", { class: "record" }, lines),
      ...(more ? more(row).filter(Boolean) : []),
    );
  }

  // The row that the address names is chosen and in sight.
  function chooseLinked() {
    const at = view.rows.findIndex((row) => row.name === state.item);
    if (at < 0) return;
    view.chosen = view.rows[at];
    showRecord();
    grid.scrollTop = Math.max(0, (at - 3) * ROW_HEIGHT);
    draw();
  }

  select();
  requestAnimationFrame(() => (isLinked && state.item ? chooseLinked() : draw()));
  return box;
}

// NULL comes last in both directions.
export function compare({ name, down }) {
  const sign = down ? -1 : 1;
  return (a, b) => {
    const [x, y] = [a[name], b[name]];
    if (x === null || y === null) return (x === null) - (y === null);
    return sign * (typeof x === "string" ? (x < y ? -1 : x > y ? 1 : 0) : x - y);
  };
}

export function csv(columns, rows) {
  const cell = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  return (
    [columns.map((c) => c.name), ...rows.map((row) => columns.map((c) => row[c.name]))]
      .map((line) => line.map(cell).join(","))
      .join("\r\n") + "\r\n"
  );
}

export function save(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = el("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
