// A canvas that fills its box and is drawn when asked, for the ruler and the overview.
import { el } from "../../web/base/elements.js";

/** A canvas of a class; `draw(context, width, height)` gets CSS pixels. */
export function stripCanvas(kind, properties, draw) {
  const canvas = el("canvas", { class: kind, ...properties });
  const context = canvas.getContext("2d");

  function paint() {
    const { clientWidth: width, clientHeight: height } = canvas;
    if (!width || !height) return;
    const ratio = devicePixelRatio || 1;
    const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== across) canvas.width = across;
    if (canvas.height !== down) canvas.height = down;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    draw(context, width, height);
  }

  return { canvas, paint };
}

/**
 * Lets the pointer drag over an element: `begin(x)` gives a state or null, then `move(state, x)`
 * and `end(state, x)` follow, in CSS pixels of the element.
 */
export function dragOver(element, { begin, move, end }) {
  let held = null;
  const xOf = (event) => event.clientX - element.getBoundingClientRect().left;
  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    held = begin(xOf(event), event);
    if (held) element.setPointerCapture(event.pointerId);
  });
  element.addEventListener("pointermove", (event) => {
    if (held) move(held, xOf(event), event);
  });
  const release = (event) => {
    if (!held) return;
    const last = held;
    held = null;
    end(last, xOf(event), event);
  };
  element.addEventListener("pointerup", release);
  element.addEventListener("pointercancel", release);
}
