// Places boxes by the width of the window: cards in rows of equal length, panels in columns of
// similar height.
import { el } from "../../../../web/base/elements.js";

const GAP = 18;
const CARD_GAP = 12;
const MIN_CARD = 168;

/** Cards in rows that have the same number of cards, as far as that is possible. */
export function cardRows(cards) {
  const box = el("div", { class: "cards" }, cards);
  const place = () => {
    const room = box.clientWidth + CARD_GAP;
    const most = Math.max(1, Math.floor(room / (MIN_CARD + CARD_GAP)));
    const rows = Math.ceil(cards.length / most);
    const count = Math.max(1, Math.ceil(cards.length / rows));
    for (const card of cards) card.style.flexBasis = `${Math.floor(room / count) - CARD_GAP - 1}px`;
  };
  new ResizeObserver(place).observe(box);
  return box;
}

/** Panels in as many columns as there is room for, each panel below the shortest one so far. */
export function masonry(panels, minWidth) {
  const box = el("div", { class: "masonry" });
  let shown = 0;
  const place = () => {
    const room = Math.floor((box.clientWidth + GAP) / (minWidth + GAP));
    const count = Math.max(1, Math.min(panels.length, room));
    if (count === shown) return;
    shown = count;
    const columns = Array.from({ length: count }, () => el("div", { class: "column" }));
    box.replaceChildren(...columns);
    for (const panel of panels) {
      const heights = columns.map((c) => c.offsetHeight);
      columns[heights.indexOf(Math.min(...heights))].append(panel);
    }
  };
  new ResizeObserver(place).observe(box);
  return box;
}
