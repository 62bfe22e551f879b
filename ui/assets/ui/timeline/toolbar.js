// The line of tools above the tracks: search, filter, order, colours, and what else can be done.
import { el, swatch } from "../../web/base/elements.js";
import { many } from "../../web/base/format.js";
import { visible } from "../base/text.js";
import { DURATION_LEGEND, MODES } from "./colours.js";

export const ORDERS = [
  ["recorded", "As recorded"],
  ["busy", "Busiest first"],
  ["name", "By name"],
];

const options = (list) => list.map(([key, text]) => el("option", { value: key }, text));

/** The toolbar of `tl`; `search` is its form, `act(name, value)` is called for what is chosen. */
export function toolbarOf(tl, search, act) {
  const filter = el("input", {
    type: "search",
    class: "tl-filter",
    placeholder: "Filter tracks",
    "aria-label": "Filter tracks",
    spellcheck: "false",
    oninput: () => act("filter", filter.value),
  });
  const order = el(
    "select",
    { "aria-label": "Order of tracks", onchange: () => act("order", order.value) },
    options(ORDERS),
  );
  const colour = el(
    "select",
    { "aria-label": "Colour of events", onchange: () => act("colour", colour.value) },
    options(MODES),
  );
  const hidden = button("", "Show the hidden tracks again", "unhide");
  const legend = el("div", { class: "legend tl-legend", hidden: true });

  function button(text, title, name) {
    const properties = { type: "button", class: "ghost", title, onclick: () => act(name) };
    return el("button", { ...properties, "aria-label": text.length > 1 ? null : title }, text);
  }

  const element = el(
    "div",
    { class: "tl-toolbar", role: "toolbar", "aria-label": "Timeline" },
    search,
    filter,
    el("label", { class: "tl-choice" }, el("span", {}, "Order"), order),
    el("label", { class: "tl-choice" }, el("span", {}, "Colour"), colour),
    button("Fold all", "Fold all groups", "fold-all"),
    button("Unfold all", "Unfold all groups", "unfold-all"),
    hidden,
    button("Open in Perfetto", "Hand a trace to ui.perfetto.dev", "perfetto"),
    button("?", "Keys", "help"),
  );

  /** Shows what the lists say now. */
  function update() {
    if (filter.value.toLowerCase() !== tl.list.filter) filter.value = tl.list.filter;
    order.value = tl.list.order;
    colour.value = tl.colours.mode();
    hidden.hidden = tl.list.hidden.size === 0;
    hidden.textContent = `${many(tl.list.hidden.size, "hidden track")}: show`;
    const shown = tl.colours.mode();
    legend.hidden = shown !== "duration" && shown !== "category";
    if (shown === "duration") fill(DURATION_LEGEND);
    if (shown === "category") fill(tl.categories.map((name, i) => [i, visible(name, 60)]));
  }

  function fill(entries) {
    const line = ([index, text]) => {
      const square = swatch(tl.colours.tint(index % 14));
      square.classList.toggle("striped", tl.colours.isStriped(index % 14));
      return el("span", {}, square, text);
    };
    legend.replaceChildren(...entries.slice(0, 20).map(line));
  }

  return { element, legend, update };
}
