// The tooltip of the event below the pointer: the full name and exact times at once, and what only
// the server knows (self time, step, shapes) after a moment.
import { exact, grouped, human, ns } from "../../web/base/format.js";
import { hideTooltip, showTooltip, tooltipContent } from "../../web/charts/tooltip.js";
import { visible } from "../base/text.js";
import { hitAt } from "./hit.js";
import { seriesTint } from "./paint_counters.js";

/** Details are asked for when the pointer rests so long on an event, in milliseconds. */
const REST_MS = 220;
const MAX_KNOWN = 500;
const MAX_NAME = 600;

/** The hover of `tl`: `update()` after the pointer moved, `leave()` when it left. */
export function hoverOf(tl, ask) {
  const known = new Map();
  let [timer, controller] = [null, null];
  const nameOf = ({ trace, id }) => `${trace}:${id}`;

  function update() {
    const { x, y, clientX, clientY } = tl.pointer;
    const found = hitAt(tl, x, y);
    const event = found?.event || null;
    if (!event || !tl.hovered || nameOf(event) !== nameOf(tl.hovered)) forget();
    tl.hovered = event;
    tl.scene.canvas.classList.toggle("over", Boolean(event));
    if (event) {
      show(event, clientX, clientY);
      if (!known.has(nameOf(event)) && timer === null && !tl.model.tracks.get(event.key).isLocal)
        timer = setTimeout(() => details(event), REST_MS);
    } else if (found?.values?.length) showValues(found, clientX, clientY);
    else hideTooltip();
  }

  function forget() {
    clearTimeout(timer);
    controller?.abort();
    timer = null;
  }

  function leave() {
    forget();
    tl.hovered = null;
    hideTooltip();
  }

  async function details({ trace, id }) {
    controller = new AbortController();
    const { signal } = controller;
    try {
      const answer = await ask("/api/event", { trace, event_id: id }, { signal });
      if (known.size > MAX_KNOWN) known.clear();
      known.set(nameOf({ trace, id }), answer.event);
      if (tl.hovered && nameOf(tl.hovered) === nameOf({ trace, id }))
        show(tl.hovered, tl.pointer.clientX, tl.pointer.clientY);
    } catch {
      // The tooltip stays as it is.
    }
  }

  function show(event, x, y) {
    const row = known.get(nameOf(event)) || {};
    const { start, end, count } = event;
    const line = (label, value) => value !== null && value !== undefined && [null, label, value];
    const lines = [
      line("Start", `${grouped(start)} ns`),
      end > start && line("Duration", `${grouped(end - start)} ns (${ns(end - start)})`),
      end > start && line("End", `${grouped(end)} ns`),
      row.self_ns !== undefined &&
        line("Self", row.self_ns === null ? null : exact(row.self_ns, "ns")),
      line("Category", row.cat && visible(row.cat, 80)),
      line("Step", row.step),
      line("Shapes", row.input_dims && visible(textIn(row.input_dims), 200)),
      count > 1 && line("Here", `the longest of ${grouped(count)} that start here`),
    ];
    showTooltip(tooltipContent(visible(event.name, MAX_NAME), lines.filter(Boolean)), x, y);
  }

  const textIn = (value) => (typeof value === "string" ? value : JSON.stringify(value));

  function showValues({ row, values }, x, y) {
    const lines = values.slice(0, 12).map(({ name, unit, number, last, min, max }) => {
      const text = last === undefined ? "no value yet" : exactValue(last, unit);
      const range = min !== max ? ` (${human(min, unit)} to ${human(max, unit)} here)` : "";
      return [seriesTint(number), visible(name || row.label, 80), `${text}${range}`];
    });
    showTooltip(tooltipContent(row.label, lines), x, y);
  }

  return { update, leave };
}

function exactValue(value, unit) {
  if (unit === "bytes") return `${grouped(value)} bytes (${human(value, unit)})`;
  return unit && unit !== "number" && unit !== "count" ? `${value} ${unit}` : String(value);
}
