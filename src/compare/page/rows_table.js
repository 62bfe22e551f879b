// A table of rows that can be sorted, searched and filtered by verdict.
import { el } from "../../../web/base/elements.js";
import { many } from "../../../web/base/format.js";
import {
  KINDS,
  VERDICTS,
  nameOf,
  percent,
  shortened,
  signed,
  time,
  verdictClass,
} from "./comparison.js";

const MAX_ROWS = 1000;

const number = (value) => (value === undefined || value === null ? -Infinity : value);
const both = (a, b) => (a === b ? String(a) : `${a} → ${b}`);

const KIND = {
  title: "About",
  isText: true,
  value: (r) => KINDS[r.dimension] || r.dimension,
  show: (r) => KINDS[r.dimension] || r.dimension,
};

const COLUMNS = [
  { title: "Name", isText: true, isName: true, value: nameOf, show: (r) => shortened(nameOf(r)) },
  { title: "Measure", isText: true, value: (r) => r.measure, show: (r) => r.measure },
  {
    title: "Base",
    value: (r) => number(r.base_ns),
    show: (r) => time(r.base_ns),
    exact: (r) => r.base_ns,
  },
  {
    title: "Candidate",
    value: (r) => number(r.cand_ns),
    show: (r) => time(r.cand_ns),
    exact: (r) => r.cand_ns,
  },
  {
    title: "Change",
    isSize: true,
    isColoured: true,
    value: (r) => Math.abs(number(r.delta_ns)),
    show: (r) => signed(r.delta_ns),
    exact: (r) => r.delta_ns,
  },
  { title: "%", isColoured: true, value: (r) => number(r.delta_pct), show: percent },
  {
    title: "Verdict",
    isText: true,
    isColoured: true,
    value: (r) => VERDICTS.indexOf(r.verdict),
    show: (r) => r.verdict,
    hint: (r) => r.reason,
  },
  { title: "Calls", value: (r) => r.cand_calls, show: (r) => both(r.base_calls, r.cand_calls) },
  { title: "Ranks", value: (r) => r.cand_traces, show: (r) => both(r.base_traces, r.cand_traces) },
  { title: "Steps", value: (r) => r.cand_steps, show: (r) => both(r.base_steps, r.cand_steps) },
  {
    title: "Medians",
    isDetail: true,
    value: (r) => number(r.cand_median_ns),
    show: (r) =>
      r.base_median_ns === undefined ? "" : `${time(r.base_median_ns)} → ${time(r.cand_median_ns)}`,
  },
  {
    title: "Noise ±",
    isDetail: true,
    value: (r) => number(r.noise_ns),
    show: (r) => time(r.noise_ns),
    exact: (r) => r.noise_ns,
  },
  {
    title: "p",
    isDetail: true,
    value: (r) => number(r.p_value),
    show: (r) =>
      r.p_value === undefined ? "" : r.p_value < 0.001 ? "<0.001" : r.p_value.toFixed(3),
  },
];

function cellOf(column, row) {
  const classes = [];
  if (column.isText) classes.push("text");
  if (column.isName) classes.push("name");
  if (column.isColoured) classes.push(verdictClass(row));
  const exact = column.exact && column.exact(row);
  const hint =
    typeof exact === "number"
      ? `${exact.toLocaleString("en-US")} ns`
      : column.isName
        ? row.key
        : column.hint && column.hint(row);
  return el("td", { class: classes.join(" "), title: hint }, column.show(row));
}

// The table of some rows. With kinds, a column says what each row is about, and the details of the
// verdict are left out.
export function rowsTable(all, { hasKinds = false } = {}) {
  const columns = hasKinds ? [KIND, ...COLUMNS.filter((c) => !c.isDetail)] : COLUMNS;
  const view = { sort: columns.find((c) => c.isSize), isDown: true, text: "", verdicts: new Set() };
  const heads = columns.map((column) =>
    el(
      "th",
      { class: column.isText ? "text" : "", scope: "col" },
      el("button", { type: "button", onclick: () => sortBy(column) }, column.title),
    ),
  );
  const body = el("tbody");
  const count = el("span", { class: "count", role: "status" });
  const search = el("input", {
    type: "search",
    placeholder: "Search names",
    "aria-label": "Search names",
    oninput: () => {
      view.text = search.value.toLowerCase();
      draw();
    },
  });
  const filters = VERDICTS.filter((verdict) => all.some((r) => r.verdict === verdict)).map(
    (verdict) => {
      const found = all.filter((r) => r.verdict === verdict).length;
      const button = el(
        "button",
        {
          type: "button",
          class: "ghost",
          "aria-pressed": false,
          onclick: () => {
            if (!view.verdicts.delete(verdict)) view.verdicts.add(verdict);
            button.setAttribute("aria-pressed", String(view.verdicts.has(verdict)));
            draw();
          },
        },
        `${found} ${verdict}`,
      );
      return button;
    },
  );

  function sortBy(column) {
    view.isDown = view.sort === column ? !view.isDown : !column.isText;
    view.sort = column;
    draw();
  }

  function draw() {
    const found = all.filter(
      (r) =>
        (nameOf(r).toLowerCase().includes(view.text) ||
          (r.key || "").toLowerCase().includes(view.text)) &&
        (view.verdicts.size === 0 || view.verdicts.has(r.verdict)),
    );
    found.sort((a, b) => {
      const [x, y] = [view.sort.value(a), view.sort.value(b)];
      return (x < y ? -1 : x > y ? 1 : 0) * (view.isDown ? -1 : 1);
    });
    columns.forEach((column, i) => {
      if (column === view.sort)
        heads[i].setAttribute("aria-sort", view.isDown ? "descending" : "ascending");
      else heads[i].removeAttribute("aria-sort");
    });
    const lines = found.slice(0, MAX_ROWS).map((row) =>
      el(
        "tr",
        {},
        columns.map((column) => cellOf(column, row)),
      ),
    );
    body.replaceChildren(...lines);
    const more = found.length > MAX_ROWS ? `, the first ${MAX_ROWS} are shown` : "";
    count.textContent = many(found.length, "row") + more;
  }

  draw();
  return el(
    "div",
    { class: "table-box" },
    el("div", { class: "tools" }, search, el("span", { class: "filters" }, filters), count),
    el(
      "div",
      { class: "grid", tabindex: "0" },
      el("table", { class: "rows" }, el("thead", {}, el("tr", {}, heads)), body),
    ),
  );
}
