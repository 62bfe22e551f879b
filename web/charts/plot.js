// The frame that charts with axes share: a canvas with margins, a legend above, a bar for zooming
// below, and what is under the pointer.
import { el } from "../base/elements.js";
import { legend } from "./legend.js";
import { surface } from "./surface.js";
import { hideTooltip, showTooltip } from "./tooltip.js";
import { listenForZoom, viewOf, zoomBar } from "./zoom.js";

/**
 * A chart with axes, as an element.
 *
 * @param {object} chart
 * @param {string} chart.label what screen readers say
 * @param {string} [chart.kind] a class that sets the height
 * @param {number} [chart.height] in pixels, instead
 * @param {Array} [chart.series] { name, paint } for the legend
 * @param {number} [chart.least] the smallest part to zoom to; without it there is no zooming
 * @param {Function} chart.margins (context, width, height, state) to { left, right, top, bottom }
 * @param {Function} chart.draw (context, frame, state)
 * @param {Function} chart.pick (x, y, frame, state) to what is there, a number or null
 * @param {Function} chart.step (hit, by, frame, state) to the next thing for a key; hit may be null
 * @param {Function} chart.place (hit, frame, state) to its [x, y] for a tooltip by keys
 * @param {Function} chart.describe (hit, state) to the content of the tooltip
 *
 * A frame has left, right, top, bottom, width, height and full (the width of the canvas); the state
 * has view (from and to, shares of the horizontal axis), hidden (numbers of series) and hit.
 */
export function plot(chart) {
  const view = viewOf(chart.least || 1);
  const state = { view, hidden: new Set(), hit: null };
  const canZoom = chart.least !== undefined && chart.least < 1;
  let frame = null;
  let isMoving = false;

  const board = surface(chart.kind || "", chart.label, (context, width, height) => {
    const margins = chart.margins(context, width, height, state);
    const { left, top } = margins;
    const [right, bottom] = [width - margins.right, height - margins.bottom];
    frame = { left, top, right, bottom, width: right - left, height: bottom - top, full: width };
    if (frame.width < 10 || frame.height < 10) return;
    chart.draw(context, frame, state);
    if (bar) bar.place(frame);
  });
  if (chart.height) board.element.style.height = `${chart.height}px`;
  const bar = canZoom ? zoomBar(view, change) : null;

  function change() {
    hide();
    board.redraw();
  }

  function hide() {
    hideTooltip();
    if (state.hit === null) return;
    state.hit = null;
    board.redraw();
  }

  function show(hit, x, y) {
    if (hit !== state.hit) {
      state.hit = hit;
      board.redraw();
    }
    if (hit === null) hideTooltip();
    else showTooltip(chart.describe(hit, state), x, y);
  }

  function point(event) {
    if (isMoving || !frame) return;
    const box = board.element.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const isInside =
      x >= frame.left && x <= frame.right && y >= frame.top - 4 && y <= frame.bottom + BELOW_PLOT;
    show(isInside ? chart.pick(x, y, frame, state) : null, event.clientX, event.clientY);
  }

  const { element } = board;
  if (canZoom) {
    element.classList.add("can-zoom");
    listenForZoom(
      element,
      view,
      () => frame,
      change,
      (now) => {
        isMoving = now;
        element.classList.toggle("moving", now);
      },
    );
  }
  element.addEventListener("pointermove", point);
  element.addEventListener("pointerdown", point);
  // A finger leaves the screen after a tap; its tooltip stays until the next one.
  element.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && hide());
  element.addEventListener("blur", hide);
  element.addEventListener("keydown", key);

  function key(event) {
    if (!frame) return;
    const by = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
    const zoom = canZoom && { "+": 0.5, "-": 2 }[event.key];
    if (by) {
      const hit = chart.step(state.hit, by, frame, state);
      const box = element.getBoundingClientRect();
      const [x, y] = hit === null ? [0, 0] : chart.place(hit, frame, state);
      show(hit, box.left + x, box.top + y);
    } else if (zoom) {
      view.scale(zoom, 0.5);
      change();
    } else if (event.key === "Escape") hide();
    else return;
    event.preventDefault();
  }

  const hasLegend = chart.series && chart.series.length > 0;
  return el(
    "div",
    { class: "chart-box" },
    hasLegend ? legend(chart.series, state.hidden, change) : null,
    element,
    bar ? bar.element : null,
  );
}

// The pointer may be on the labels of a plot too.
const BELOW_PLOT = 20;
