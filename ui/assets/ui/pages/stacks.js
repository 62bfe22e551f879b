// Stacks: flame graph with the heaviest frames on the left, and the sandwich view. The address
// holds all choices.
import { el } from "../../web/base/elements.js";
import { human, many, pct } from "../../web/base/format.js";
import { onState, setState, state } from "../base/address.js";
import { frame } from "../base/frame.js";
import { api } from "../base/session.js";
import { onTheme } from "../base/theme.js";
import { later, withState } from "../parts/page.js";
import { errorText, notice, queryOf } from "../parts/panel.js";
import { choices, measureTitle, traceTitle } from "../stacks/choices.js";
import { changeColour, changeOf, nameColour } from "../stacks/colours.js";
import { changeLegend, frameLine, frameTooltip } from "../stacks/describe.js";
import { flameGraph } from "../stacks/flame.js";
import { sandwich } from "../stacks/sandwich.js";
import { collapsed, find, treeOf } from "../stacks/tree.js";

const main = frame({ title: "Stacks", page: "stacks" });
const view = {
  traces: [],
  whole: null,
  tree: null,
  unit: "ns",
  stop: null,
  choice: null,
  said: null,
};
const line = el("p", { class: "stack-line small quiet", role: "status" });
const found = el("span", { class: "small quiet", role: "status" });
const message = el("div");
const legend = el("div");
const query = el("div");
const search = el("input", {
  type: "search",
  placeholder: "Find frames (/)",
  "aria-label": "Find frames",
});
const say = (tree, node) => {
  line.textContent = node === null ? "" : frameLine(tree, node, view.unit);
};
const flame = flameGraph({
  label: "Flame graph, heaviest frames on the left",
  describe: (node) => frameTooltip(view.tree, node, view.unit),
  say: (node) => say(view.tree, node),
  open: (node) => node > 0 && openSandwich(view.tree.nameOf(node)),
});
const layers = sandwich({
  describe: (tree, node) => frameTooltip(tree, node, view.unit),
  say,
  chosen: (name) => setState({ frame: name }, { replace: true }),
});

const toggle = (text, title, act) =>
  el("button", { type: "button", class: "ghost", title, onclick: act }, text);
const buttons = {
  heavy: toggle("Left heavy", "Flame graph (1)", () => set({ view: null })),
  sandwich: toggle("Sandwich", "Callers and callees of a frame (2)", () =>
    set({ view: "sandwich" }),
  ),
  recursion: toggle("Collapse recursion", "Frames within a frame of the same name (r)", () =>
    set({ recursion: state().recursion ? null : "1" }),
  ),
  whole: toggle("Whole graph", "Zooms out (0)", () => flame.zoom(0)),
};

function set(changes) {
  setState(changes);
  draw();
}

function openSandwich(name) {
  setState({ view: "sandwich", frame: name });
  draw();
}

// A choice that needs other stacks of the server.
function choose(key, value) {
  setState({ [key]: value });
  if (key === "trace") view.choice.load(value).catch(() => {});
  load();
}

async function load() {
  const { measure, trace, step, thread, base, stack_sql: sql } = state();
  if (view.stop) view.stop.abort();
  const stop = new AbortController();
  view.stop = stop;
  main.setAttribute("aria-busy", "true");
  const asked = { measure: measure || "host", trace, thread, sql };
  if (step && !/^-?\d{1,15}$/.test(step)) {
    view.whole = null;
    message.replaceChildren(notice(`The step of the address, ${step}, is not a whole number.`, true));
    main.setAttribute("aria-busy", "false");
    draw();
    return;
  }
  if (step) asked.step = Number(step);
  if (base && base !== trace) Object.assign(asked, { base, trace: trace || otherThan(base) });
  try {
    if (!view.whole) message.replaceChildren(notice("Computing …"));
    let answer = await api("/api/stacks", asked, { signal: stop.signal });
    if (!view.whole && !measure && !sql && !answer.nodes.length)
      answer = (await otherMeasure(answer.measures, asked, stop.signal)) || answer;
    view.unit = answer.unit;
    view.whole = treeOf(answer);
    view.choice.measures(answer.measures);
    query.replaceChildren(...(answer.sql ? [queryOf(answer.sql)] : []));
    message.replaceChildren(...notes(answer, asked));
  } catch (error) {
    if (error.name === "AbortError") return;
    view.whole = null;
    message.replaceChildren(notice(errorText(error), true));
  }
  main.setAttribute("aria-busy", "false");
  draw();
}

// Before anything is chosen: the stacks of the first measure that the traces have.
async function otherMeasure(names, asked, signal) {
  for (const measure of names) {
    const answer = await api("/api/stacks", { ...asked, measure }, { signal });
    if (!answer.nodes.length) continue;
    setState({ measure }, { replace: true });
    view.choice.set(state());
    return answer;
  }
  return null;
}

// With two traces, a base alone says which is the other.
const otherThan = (base) => view.traces.find((t) => t.trace_id !== base)?.trace_id;

function notes({ nodes, rest, measure }, asked) {
  const list = [];
  if (!nodes.length) list.push(notice(`No stack has a value in "${measureTitle(measure)}".`));
  if (rest) list.push(notice(`${many(rest.frames, "small frame")} are part of what they are in.`));
  if (state().base && !asked.base) list.push(notice("A trace is not compared with itself."));
  return list;
}

function draw() {
  const { view: name, recursion, base, search: wanted, frame: chosen } = state();
  const isSandwich = name === "sandwich";
  buttons.heavy.setAttribute("aria-pressed", String(!isSandwich));
  buttons.sandwich.setAttribute("aria-pressed", String(isSandwich));
  buttons.recursion.setAttribute("aria-pressed", String(Boolean(recursion)));
  buttons.whole.hidden = isSandwich;
  flame.element.hidden = isSandwich || !view.whole;
  layers.element.hidden = !isSandwich || !view.whole;
  if (search.value !== (wanted || "")) search.value = wanted || "";
  if (!view.whole) return;
  view.tree = shownTree(Boolean(recursion));
  const trace = view.traces.find((t) => t.trace_id === base);
  legend.replaceChildren(
    ...(view.tree.isCompared && trace ? [changeLegend(traceTitle(trace))] : []),
  );
  if (isSandwich) {
    found.textContent = "";
    const text = search.value;
    layers.show({ tree: view.tree, text, unit: view.unit, paintOf, frame: chosen });
  } else drawFlame();
}

// The collapsed tree is made once for each answer.
let made = { whole: null, tree: null };
function shownTree(isCollapsed) {
  if (!isCollapsed) return view.whole;
  if (made.whole !== view.whole) made = { whole: view.whole, tree: collapsed(view.whole) };
  return made.tree;
}

function drawFlame() {
  const { tree } = view;
  const hits = search.value ? find(tree, search.value) : null;
  found.textContent = hits ? foundText(hits, tree) : "";
  flame.show({ tree, hits: hits && hits.hits, paint: paintOf(tree) });
  if (view.said !== tree) line.textContent = frameLine(tree, 0, view.unit);
  view.said = tree;
}

const foundText = ({ hits, total }, tree) =>
  `${many(hits.size, "frame")}, ${human(total, view.unit)}, ` +
  `${pct((100 * total) / (tree.total[0] || 1))} of all`;

const paintOf = (tree) => (node) =>
  tree.isCompared
    ? changeColour(changeOf(tree.total[node], tree.baseTotal[node]))
    : nameColour(node === 0 ? "" : tree.nameOf(node));

const searchSoon = later(() => {
  setState({ search: search.value || null }, { replace: true });
  draw();
}, 120);

const KEYS = {
  Digit1: () => set({ view: null }),
  Digit2: () => set({ view: "sandwich" }),
  Digit0: () => flame.zoom(0),
  KeyR: () => buttons.recursion.click(),
  KeyN: () => view.choice.nextThread(1),
  KeyP: () => view.choice.nextThread(-1),
  Slash: () => search.focus(),
};

function key(event) {
  const isField = event.target.closest("input, select, textarea");
  if (isField || event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.code]) return;
  event.preventDefault();
  KEYS[event.code]();
}

const tools = el(
  "div",
  { class: "stack-tools" },
  el(
    "div",
    { class: "segments", role: "group", "aria-label": "View" },
    buttons.heavy,
    buttons.sandwich,
  ),
  search,
  buttons.recursion,
  buttons.whole,
  found,
);
const hint =
  "1 2 views · r recursion · n p threads · 0 whole graph · / find · " +
  "a double click opens the sandwich";
const place = el("div", { class: "column-of-panels stack-page" });
main.append(place);

async function open(traces) {
  view.traces = traces;
  view.choice = choices(traces, state(), choose);
  place.replaceChildren(
    ...[view.choice.element, tools, message, legend, flame.element, layers.element, line],
    el("p", { class: "small quiet" }, hint),
    query,
  );
  view.choice.load(state().trace).catch(() => {});
  await load();
}

function start({ status, error, traces }) {
  if (status === "failed")
    place.replaceChildren(notice(error || "The traces cannot be read.", true));
  else if (status === "reading") place.replaceChildren(notice("The traces are being read …"));
  else open(traces);
}

search.addEventListener("input", searchSoon);
addEventListener("keydown", (event) => view.choice && key(event));
onTheme(() => view.whole && draw());
onState((values) => {
  if (!view.choice) return;
  view.choice.set(values);
  load();
});
withState(start).catch((error) => main.append(notice(errorText(error), true)));
