// What the stacks are of: measure, trace, step, thread, and the input to compare with.
import { el } from "../../web/base/elements.js";
import { fileName } from "../base/frame.js";
import { visible } from "../base/text.js";
import { literal, rowsOf } from "../parts/query.js";

/** Steps and threads in a list. */
const MOST = 500;

const TITLES = {
  host: "Host time",
  gpu: "Device time",
  kernels: "Device activities",
  samples: "Calls",
  alloc_space: "Memory allocated",
  alloc_objects: "Allocations",
};

/** The name of a measure for people. */
export const measureTitle = (name) => TITLES[name] || name;

/** The name of a trace for people. */
export function traceTitle({ trace_id: id, path, rank }) {
  const name = visible(fileName(path || id), 80);
  return rank === null || rank === undefined ? name : `${name} · rank ${rank}`;
}

/**
 * The choices, as { element, measures(names), load(trace), set(values), nextThread(by) }. `first`
 * are texts by key: measure, trace, step, thread, base; `change(key, value)` is called when the
 * reader chooses.
 */
export function choices(traces, first, change) {
  const lists = {};
  let values = first;
  const field = (key, label, options) => {
    const select = el("select", { "aria-label": label });
    select.addEventListener("change", () => take(key, select.value || null));
    lists[key] = select;
    fill(key, options);
    return el("label", { class: "option" }, label, select);
  };

  function take(key, value) {
    values = { ...values, [key]: value };
    change(key, value);
  }

  function fill(key, options) {
    const value = (values[key] === "host" ? null : values[key]) || "";
    const isKnown = options.some(([own]) => own === value);
    const all = isKnown ? options : [...options, [value, visible(value, 80)]];
    const option = ([own, text]) => el("option", { value: own, selected: own === value }, text);
    lists[key].replaceChildren(...all.map(option));
  }

  const ofTraces = traces.map((t) => [t.trace_id, traceTitle(t)]);
  const element = el(
    "div",
    { class: "stack-choices" },
    field("measure", "Measure", [["", "Host time"]]),
    traces.length > 1 ? field("trace", "Trace", [["", "all traces"], ...ofTraces]) : null,
    field("step", "Step", [["", "all"]]),
    field("thread", "Thread", [["", "all"]]),
    traces.length > 1 ? field("base", "Compare with", [["", "nothing"], ...ofTraces]) : null,
  );

  /** The measures that there are. */
  function measures(names) {
    fill(
      "measure",
      names.map((name) => [name === "host" ? "" : name, measureTitle(name)]),
    );
  }

  /** Steps, and threads by their host time, of a trace or of all. */
  async function load(trace) {
    const where = trace ? ` WHERE trace_id = ${literal(trace)}` : "";
    const steps = `SELECT DISTINCT step FROM steps${where} ORDER BY step LIMIT ${MOST}`;
    const threads =
      `SELECT thread, sum(cpu_ns) AS own_ns FROM stack_samples${where} GROUP BY thread ` +
      `ORDER BY own_ns DESC NULLS LAST LIMIT ${MOST}`;
    const [stepRows, threadRows] = await Promise.all([rowsOf(steps), rowsOf(threads)]);
    const texts = stepRows.map(({ step }) => [String(step), String(step)]);
    fill("step", [["", "all"], ...texts]);
    const names = threadRows.map(({ thread }) => thread).filter((name) => name !== null);
    fill("thread", [["", "all"], ...names.map((name) => [name, visible(name, 80)])]);
  }

  /** Goes to the next thread of the list, or to the one before. */
  function nextThread(by) {
    const list = lists.thread;
    const next = Math.min(Math.max(list.selectedIndex + by, 0), list.options.length - 1);
    if (next === list.selectedIndex) return;
    list.selectedIndex = next;
    take("thread", list.value || null);
  }

  /** Shows other values, because the address changed. */
  function set(next) {
    values = next;
    for (const [key, list] of Object.entries(lists))
      fill(
        key,
        [...list.options].map((own) => [own.value, own.textContent]),
      );
  }

  return { element, measures, load, set, nextThread };
}
