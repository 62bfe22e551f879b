// Zooming along the horizontal axis: by wheel, drag, two fingers, keys, and a bar below the plot.
import { el } from "../base/elements.js";

/** The part of the axis in sight, as shares of the whole; no smaller than `least`. */
export function viewOf(least) {
  const view = { from: 0, to: 1 };

  // Takes a part of this size that begins here, moved back into the whole.
  function set(from, size) {
    const part = Math.min(1, Math.max(least, size));
    view.from = Math.min(Math.max(0, from), 1 - part);
    view.to = view.from + part;
  }

  view.isWhole = () => view.to - view.from > 0.999999;
  view.pan = (by) => set(view.from + by, view.to - view.from);
  // Makes the part `by` times as large; the place `at` (0 left, 1 right) stays where it is.
  view.scale = (by, at) => {
    const size = view.to - view.from;
    const next = Math.min(1, Math.max(least, size * by));
    set(view.from + (size - next) * at, next);
  };
  view.select = (from, to) => set(Math.min(from, to), Math.abs(to - from));
  view.reset = () => set(0, 1);
  return view;
}

/**
 * Lets the pointer move a view. `area()` is the frame of the plot within the element or null,
 * `change` is called when the view changed, `moving(isMoving)` when a drag begins or ends.
 */
export function listenForZoom(element, view, area, change, moving) {
  const touches = new Map();

  const shareOf = (event) => {
    const { left, width } = area();
    const x = event.clientX - element.getBoundingClientRect().left - left;
    return Math.min(1, Math.max(0, x / width));
  };

  element.addEventListener(
    "wheel",
    (event) => {
      if (!area()) return;
      const unit = event.deltaMode === 1 ? 24 : event.deltaMode === 2 ? 400 : 1;
      const [across, down] = [event.deltaX * unit, event.deltaY * unit];
      const isPan = event.shiftKey || Math.abs(across) > Math.abs(down);
      // The page scrolls on where the chart has nothing more to show.
      if (view.isWhole() && (isPan || down > 0)) return;
      event.preventDefault();
      const size = view.to - view.from;
      if (isPan) view.pan(((event.shiftKey && !across ? down : across) / area().width) * size);
      else view.scale(Math.exp(Math.min(Math.max(down, -300), 300) * 0.0022), shareOf(event));
      change();
    },
    { passive: false },
  );

  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !area()) return;
    touches.set(event.pointerId, event.clientX);
  });

  element.addEventListener("pointermove", (event) => {
    const before = touches.get(event.pointerId);
    if (before === undefined || !area()) return;
    const size = view.to - view.from;
    const { width } = area();
    if (touches.size === 1) {
      if (view.isWhole() || Math.abs(event.clientX - before) < 2) return;
      if (!element.hasPointerCapture(event.pointerId)) element.setPointerCapture(event.pointerId);
      moving(true);
      view.pan((-(event.clientX - before) / width) * size);
    } else {
      const other = [...touches].find(([id]) => id !== event.pointerId)[1];
      const [old, now] = [Math.abs(before - other), Math.abs(event.clientX - other)];
      const middle = { clientX: (event.clientX + other) / 2 };
      moving(true);
      if (old > 8 && now > 8) view.scale(old / now, shareOf(middle));
    }
    touches.set(event.pointerId, event.clientX);
    change();
  });

  const release = (event) => {
    if (touches.delete(event.pointerId) && touches.size === 0) moving(false);
  };
  ["pointerup", "pointercancel"].forEach((name) => element.addEventListener(name, release));
  element.addEventListener("dblclick", () => {
    view.reset();
    change();
  });
}

/** The bar below a plot: its middle moves the view, its two handles change what is in sight. */
export function zoomBar(view, change) {
  const handle = (label, move) => {
    const made = el("button", { type: "button", class: "zoom-handle", role: "slider" });
    made.setAttribute("aria-label", label);
    made.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -0.02, ArrowRight: 0.02 }[event.key];
      if (!by) return;
      event.preventDefault();
      move(by);
      change();
    });
    drag(made, move);
    return made;
  };
  const start = handle("Start of the part in sight", (by) => {
    view.select(Math.min(Math.max(0, view.from + by), view.to), view.to);
  });
  const end = handle("End of the part in sight", (by) => {
    view.select(view.from, Math.max(Math.min(1, view.to + by), view.from));
  });
  const range = el("div", { class: "zoom-range" }, start, end);
  const element = el("div", { class: "zoom-bar" }, range);
  drag(range, (by) => view.pan(by));

  // Moves by shares of the bar while the pointer is held down.
  function drag(grip, move) {
    let last = null;
    grip.addEventListener("pointerdown", (event) => {
      event.stopPropagation();
      grip.setPointerCapture(event.pointerId);
      last = event.clientX;
    });
    grip.addEventListener("pointermove", (event) => {
      if (last === null) return;
      move((event.clientX - last) / element.clientWidth);
      last = event.clientX;
      change();
    });
    const release = () => {
      last = null;
    };
    grip.addEventListener("pointerup", release);
    grip.addEventListener("pointercancel", release);
  }

  /** Puts the bar below a frame and shows the view. */
  function place({ left, width }) {
    element.style.left = `${left}px`;
    element.style.width = `${width}px`;
    range.style.left = `${100 * view.from}%`;
    range.style.width = `${100 * (view.to - view.from)}%`;
    for (const [grip, share] of [
      [start, view.from],
      [end, view.to],
    ]) {
      grip.setAttribute("aria-valuemin", "0");
      grip.setAttribute("aria-valuemax", "100");
      grip.setAttribute("aria-valuenow", String(Math.round(100 * share)));
    }
  }

  return { element, place };
}
