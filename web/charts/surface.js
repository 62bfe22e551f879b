// A canvas that fills its element and stays sharp. It is drawn again when its size or the colours
// of the page change.
import { el } from "../base/elements.js";

const surfaces = new Set();

/**
 * A surface; `draw(context, width, height)` gets sizes in CSS pixels. `kind` is a class of the
 * element, which sets its height, and `label` is read by screen readers.
 */
export function surface(kind, label, draw) {
  const canvas = el("canvas");
  const properties = { class: `chart ${kind}`.trim(), role: "img", "aria-label": label };
  const element = el("div", { ...properties, tabindex: "0" }, canvas);
  const context = canvas.getContext("2d");
  const observer = new ResizeObserver(paint);
  let isRequested = false;

  function paint() {
    const { clientWidth: width, clientHeight: height } = element;
    if (!width || !height) return;
    const ratio = devicePixelRatio || 1;
    const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== across) canvas.width = across;
    if (canvas.height !== down) canvas.height = down;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    draw(context, width, height);
  }

  // Several changes between two frames of the screen are drawn once.
  function redraw() {
    if (isRequested) return;
    isRequested = true;
    requestAnimationFrame(() => {
      isRequested = false;
      paint();
    });
  }

  observer.observe(element);
  const self = { element, redraw, stop: () => observer.disconnect() };
  surfaces.add(self);
  return self;
}

/** Draws all surfaces again, because the colours of the page changed. */
export function redrawSurfaces() {
  surfaces.forEach((s) => s.redraw());
}

/** Lets go of all surfaces, because the page shows something else now. */
export function forgetSurfaces() {
  surfaces.forEach((s) => s.stop());
  surfaces.clear();
}
