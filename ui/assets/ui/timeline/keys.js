// The keyboard. Keys are meant by their place (`event.code`), and belong to a text field while it
// has the focus.

/** Pixels per second at which holding a key begins and ends, and the time to get there. */
const SLOW = 500;
const FAST = 2600;
const ACCELERATION_MS = 700;
const SHIFT_FACTOR = 3;
/** One press moves by this many pixels if motion is unwanted. */
const JUMP = 200;
/** How fast zooming is, compared with panning. */
const ZOOM_PER_PIXEL = 0.0016;

const HELD = {
  KeyA: "left",
  ArrowLeft: "left",
  KeyD: "right",
  ArrowRight: "right",
  KeyW: "in",
  KeyS: "out",
  ArrowUp: "up",
  ArrowDown: "down",
};

const isText = (target) =>
  target instanceof HTMLElement &&
  (target.matches("input:not([type=checkbox]), textarea, select") || target.isContentEditable);

// Arrows and Enter move within these and belong to them.
const isOwn = (target) =>
  target instanceof HTMLElement &&
  target.closest("[role=tree], .tl-drawer, button, a, dialog, summary") !== null;

/**
 * Listens to keys for `tl`. `actions` maps codes to functions that get the event; an action under
 * `Shift+CODE` is preferred when Shift is held.
 */
export function listenToKeys(tl, actions) {
  const held = new Map();
  const isStill = matchMedia("(prefers-reduced-motion: reduce)");
  let last = 0;

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (isText(event.target) || document.querySelector("dialog[open]")) return;
    const isPlain = event.code.startsWith("Arrow") || event.code.includes("Enter");
    if (isPlain && isOwn(event.target)) return;
    const action = actionOf(event);
    if (action) {
      event.preventDefault();
      action(event);
    } else if (HELD[event.code]) {
      event.preventDefault();
      if (isStill.matches) move(HELD[event.code], JUMP * (event.shiftKey ? SHIFT_FACTOR : 1));
      else hold(event);
    }
  });
  addEventListener("keyup", ({ code }) => held.delete(code));
  addEventListener("blur", () => held.clear());

  // Keys that write a sign are meant by it, because it lies elsewhere on other keyboards.
  function actionOf(event) {
    const byCode = event.shiftKey && actions[`Shift+${event.code}`];
    return byCode || actions[event.key] || (!event.shiftKey && actions[event.code]) || null;
  }

  function hold(event) {
    const known = held.get(event.code);
    if (known) known.isFast = event.shiftKey;
    else held.set(event.code, { since: performance.now(), isFast: event.shiftKey });
    if (held.size === 1 && !known) {
      last = performance.now();
      requestAnimationFrame(frame);
    }
  }

  function frame(now) {
    if (!held.size) return;
    const elapsed = Math.min(100, Math.max(0, now - last));
    last = now;
    for (const [code, { since, isFast }] of held) {
      const share = Math.min(1, Math.max(0, now - since) / ACCELERATION_MS);
      const speed = (SLOW + (FAST - SLOW) * share) * (isFast ? SHIFT_FACTOR : 1);
      move(HELD[code], (speed * elapsed) / 1000);
    }
    requestAnimationFrame(frame);
  }

  function move(direction, pixels) {
    const x = tl.pointer.isInside ? tl.pointer.x : tl.size.width / 2;
    if (direction === "left") tl.view.pan(-pixels);
    if (direction === "right") tl.view.pan(pixels);
    if (direction === "in") tl.zoomBy(Math.exp(-pixels * ZOOM_PER_PIXEL), x);
    if (direction === "out") tl.zoomBy(Math.exp(pixels * ZOOM_PER_PIXEL), x);
    if (direction === "up") tl.scrollBy(-pixels);
    if (direction === "down") tl.scrollBy(pixels);
    tl.changed();
  }
}
