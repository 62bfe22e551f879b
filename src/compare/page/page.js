"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const titles = {
  step: "Steps",
  category: "Parts of the step",
  op: "Operators",
  family: "Families",
  kernel: "Kernels",
  kernel_type: "Device work by type",
  class: "Device work by class",
  module: "Modules",
};
const verdicts = ["slower", "faster", "added", "removed", "noise", "same", "not judged"];
const shown = 1000;
const state = { by: null, sort: "size", down: true, text: "", verdicts: new Set() };

function element(name, text, attributes) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  return made;
}

function time(ns) {
  if (ns === undefined || ns === null) return "";
  const size = Math.abs(ns);
  const [by, unit] =
    size >= 1e9 ? [1e9, "s"] : size >= 1e6 ? [1e6, "ms"] : size >= 1e3 ? [1e3, "us"] : [1, "ns"];
  const value = ns / by;
  return (
    (Math.abs(value) >= 100
      ? value.toFixed(0)
      : Math.abs(value) >= 10
        ? value.toFixed(1)
        : value.toFixed(2)
    ).replace(/\.00$/, "") +
    " " +
    unit
  );
}

const both = (a, b) => (a === b ? String(a) : a + " → " + b);
const number = (value) => (value === undefined || value === null ? -Infinity : value);
const columns = [
  { id: "key", title: "name", value: (r) => r.key || "", show: (r) => r.key || "", text: true },
  { id: "measure", title: "measure", value: (r) => r.measure, show: (r) => r.measure, text: true },
  {
    id: "base",
    title: "base",
    value: (r) => number(r.base_ns),
    show: (r) => time(r.base_ns),
    exact: (r) => r.base_ns,
  },
  {
    id: "cand",
    title: "candidate",
    value: (r) => number(r.cand_ns),
    show: (r) => time(r.cand_ns),
    exact: (r) => r.cand_ns,
  },
  {
    id: "size",
    title: "change",
    value: (r) => Math.abs(number(r.delta_ns)),
    show: (r) => (r.delta_ns > 0 ? "+" : "") + time(r.delta_ns),
    exact: (r) => r.delta_ns,
  },
  {
    id: "percent",
    title: "%",
    value: (r) => number(r.delta_pct),
    show: (r) =>
      r.delta_pct === undefined ? "" : (r.delta_pct > 0 ? "+" : "") + r.delta_pct.toFixed(1) + " %",
  },
  {
    id: "verdict",
    title: "verdict",
    value: (r) => verdicts.indexOf(r.verdict),
    show: (r) => r.verdict,
    text: true,
  },
  {
    id: "calls",
    title: "calls",
    value: (r) => r.cand_calls,
    show: (r) => both(r.base_calls, r.cand_calls),
  },
  {
    id: "ranks",
    title: "ranks",
    value: (r) => r.cand_traces,
    show: (r) => both(r.base_traces, r.cand_traces),
  },
  {
    id: "steps",
    title: "steps",
    value: (r) => r.cand_steps,
    show: (r) => both(r.base_steps, r.cand_steps),
  },
  {
    id: "median",
    title: "medians",
    value: (r) => number(r.cand_median_ns),
    show: (r) =>
      r.base_median_ns === undefined ? "" : time(r.base_median_ns) + " → " + time(r.cand_median_ns),
  },
  {
    id: "noise",
    title: "noise ±",
    value: (r) => number(r.noise_ns),
    show: (r) => time(r.noise_ns),
    exact: (r) => r.noise_ns,
  },
  {
    id: "p",
    title: "p",
    value: (r) => number(r.p_value),
    show: (r) =>
      r.p_value === undefined ? "" : r.p_value < 0.001 ? "<0.001" : r.p_value.toFixed(3),
  },
];

function rows() {
  const column = columns.find((c) => c.id === state.sort);
  const found = data.rows.filter(
    (r) =>
      r.dimension === state.by &&
      (r.key || "").toLowerCase().includes(state.text) &&
      (state.verdicts.size === 0 || state.verdicts.has(r.verdict)),
  );
  found.sort((a, b) => {
    const [x, y] = [column.value(a), column.value(b)];
    return (x < y ? -1 : x > y ? 1 : 0) * (state.down ? -1 : 1);
  });
  return found;
}

function draw() {
  for (const tab of document.querySelectorAll("#tabs button"))
    tab.setAttribute("aria-selected", String(tab.dataset.by === state.by));
  const filters = document.getElementById("filters");
  filters.replaceChildren();
  for (const verdict of verdicts) {
    const count = data.rows.filter((r) => r.dimension === state.by && r.verdict === verdict).length;
    if (count === 0) continue;
    const button = element("button", count + " " + verdict, {
      "aria-pressed": String(state.verdicts.has(verdict)),
    });
    button.addEventListener("click", () => {
      state.verdicts.has(verdict) ? state.verdicts.delete(verdict) : state.verdicts.add(verdict);
      draw();
    });
    filters.append(button);
  }
  const head = element("tr");
  for (const column of columns) {
    const cell = element("th", column.title, column.text ? { class: "text" } : {});
    if (column.id === state.sort)
      cell.setAttribute("aria-sort", state.down ? "descending" : "ascending");
    cell.addEventListener("click", () => {
      state.down = state.sort === column.id ? !state.down : !column.text;
      state.sort = column.id;
      draw();
    });
    head.append(cell);
  }
  document.querySelector("#rows thead").replaceChildren(head);
  const all = rows();
  const body = all.slice(0, shown).map((row) => {
    const line = element("tr");
    for (const column of columns) {
      const cell = element("td", column.show(row), column.text ? { class: "text" } : {});
      if (column.exact && column.exact(row) !== undefined)
        cell.title = column.exact(row).toLocaleString("en") + " ns";
      if (column.id === "verdict" || column.id === "percent" || column.id === "size")
        cell.classList.add(row.verdict.split(" ")[0]);
      if (column.id === "verdict" && row.reason) cell.title = row.reason;
      line.append(cell);
    }
    return line;
  });
  document.querySelector("#rows tbody").replaceChildren(...body);
  const more = all.length > shown ? ", the first " + shown + " of " + all.length + " shown" : "";
  document.getElementById("count").textContent =
    all.length + (all.length === 1 ? " row" : " rows") + more;
}

function start() {
  const many = (count, word) => count + " " + word + (count === 1 ? "" : "s");
  const side = (word, s) =>
    word + " " + s.name + ": " + many(s.traces.length, "trace") + ", " + many(s.steps, "step");
  const per =
    data.base.steps > 0 && data.candidate.steps > 0
      ? "mean per step over ranks"
      : "per trace, because a side has no steps";
  document.getElementById("sides").textContent = [
    side("base", data.base),
    side("candidate", data.candidate),
    "times are " + per,
  ].join(" · ");
  const notes = document.getElementById("notes");
  for (const failure of data.failures)
    notes.append(
      element("li", "fails " + failure.condition + ": " + failure.message, { class: "fail" }),
    );
  for (const note of data.notes) notes.append(element("li", note));
  if (data.left_out > 0)
    notes.append(
      element(
        "li",
        data.left_out +
          " rows with the smallest differences are not on this page; --format json has all.",
      ),
    );
  const there = data.by.filter((by) => data.rows.some((r) => r.dimension === by));
  for (const by of there) {
    const tab = element("button", titles[by] || by, { role: "tab", "data-by": by });
    tab.addEventListener("click", () => {
      state.by = by;
      state.verdicts.clear();
      draw();
    });
    document.getElementById("tabs").append(tab);
  }
  state.by = there[0];
  document.getElementById("search").addEventListener("input", (event) => {
    state.text = event.target.value.toLowerCase();
    draw();
  });
  draw();
}

start();
