// The tooltip of charts: one box for the whole page, next to the pointer and always in sight.
import { el, swatch } from "../base/elements.js";

const GAP = 14;
const MARGIN = 8;
let box = null;

/** Shows `content` next to a point of the window. */
export function showTooltip(content, x, y) {
  if (!box) {
    box = el("div", { class: "tooltip", role: "tooltip", "aria-live": "polite" });
    document.body.append(box);
    addEventListener("scroll", hideTooltip, { passive: true, capture: true });
  }
  box.replaceChildren(content);
  box.hidden = false;
  const { clientWidth, clientHeight } = document.documentElement;
  box.style.left = `${beside(x, box.offsetWidth, clientWidth)}px`;
  box.style.top = `${beside(y, box.offsetHeight, clientHeight)}px`;
}

// After the pointer if there is room, else before it; the whole box stays within the window.
function beside(at, size, room) {
  const start = at + GAP + size > room - MARGIN ? at - GAP - size : at + GAP;
  return Math.max(MARGIN, Math.min(start, room - MARGIN - size));
}

export function hideTooltip() {
  if (box) box.hidden = true;
}

/** What a tooltip holds: a title and lines of [custom property or null, label, value]. */
export function tooltipContent(title, lines) {
  const line = ([tint, label, value]) =>
    el(
      "div",
      {},
      tint ? swatch(`var(--${tint})`) : null,
      el("span", {}, label),
      el("span", {}, value),
    );
  return el("div", { class: "tip" }, el("strong", {}, title), lines.map(line));
}
