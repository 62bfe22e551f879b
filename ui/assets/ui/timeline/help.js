// The table of keys.
import { el } from "../../web/base/elements.js";

const KEYS = [
  ["w  s", "Zoom in, out at the pointer; faster with Shift"],
  ["a  d, ← →", "Move left, right; faster with Shift"],
  ["↑ ↓", "Scroll the tracks"],
  ["Ctrl + wheel, pinch", "Zoom at the pointer"],
  ["Wheel", "Scroll the tracks; with Shift move left and right"],
  ["Click", "Select an event"],
  ["Drag", "Select an area"],
  ["Shift + drag", "Move"],
  ["Drag in the ruler", "Zoom to a part"],
  ["f", "Centre the selection; again: zoom to it"],
  ["0", "All of the time"],
  ["m", "Mark the selection for now; with Shift for good"],
  ["Delete", "Remove a mark"],
  [".  ,", "Next, previous event on the track"],
  ["]  [", "Along an arrow, back along it"],
  ["Enter", "Next hit of the search; with Shift the previous one"],
  ["r", "Select the area of the event"],
  ["q", "Open or close the details"],
  ["/", "Search"],
  ["Esc", "Clear the selection"],
  ["In the list of tracks", "↑ ↓ go, ← → fold, p pins, Delete hides"],
  ["?", "These keys"],
];

/** Shows the keys. */
export function showHelp() {
  const close = el("button", { type: "button", class: "ghost" }, "Close");
  const lines = KEYS.map(([key, text]) =>
    el("tr", {}, el("th", { scope: "row" }, el("kbd", {}, key)), el("td", {}, text)),
  );
  const dialog = el(
    "dialog",
    { class: "tl-dialog", "aria-label": "Keys" },
    el("h2", {}, "Keys"),
    el("table", { class: "tl-keys" }, el("tbody", {}, lines)),
    el("div", { class: "tl-dialog-buttons" }, close),
  );
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
