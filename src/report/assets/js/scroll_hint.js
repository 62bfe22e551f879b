// Shows at the edges of a box that it scrolls sideways.
import { el } from "../../../../web/base/elements.js";

/** The hint below a table that scrolls sideways. */
export const TOO_WIDE = "The table is wider than the window: scroll it sideways.";

/** The box with a fade at each edge behind which there is more, and a line of text below it. */
export function withEdges(scroller, text) {
  const hint = text ? el("p", { class: "scroll-hint small quiet" }, text) : null;
  const box = el("div", { class: "edges" }, el("div", { class: "edges-frame" }, scroller), hint);
  watchEdges(scroller, box);
  return box;
}

/** Keeps the classes of `box` in step with what of `scroller` is out of sight. */
export function watchEdges(scroller, box) {
  const update = () => {
    const hidden = scroller.scrollWidth - scroller.clientWidth;
    box.classList.toggle("scrolls", hidden > 1);
    box.classList.toggle("more-left", scroller.scrollLeft > 1);
    box.classList.toggle("more-right", hidden - scroller.scrollLeft > 1);
  };
  scroller.addEventListener("scroll", update, { passive: true });
  const observer = new ResizeObserver(update);
  observer.observe(scroller);
  for (const child of scroller.children) observer.observe(child);
  return update;
}
