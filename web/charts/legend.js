// The legend of a chart: one button for each series, which hides it and shows it again.
import { el, swatch } from "../base/elements.js";

/**
 * A legend for series { name, paint }. `hidden` is the set of numbers of hidden series; `change` is
 * called after each change. The last visible series cannot be hidden.
 */
export function legend(series, hidden, change) {
  const button = (one, i) => {
    const made = el(
      "button",
      { type: "button", "aria-pressed": "true", onclick: () => toggle(i) },
      swatch(one.paint),
      one.name,
    );
    made.title = `Show or hide ${one.name}`;
    return made;
  };
  const buttons = series.map(button);

  function toggle(i) {
    if (hidden.has(i)) hidden.delete(i);
    else if (hidden.size < series.length - 1) hidden.add(i);
    buttons.forEach((b, at) => b.setAttribute("aria-pressed", String(!hidden.has(at))));
    change();
  }

  return el("div", { class: "chart-legend", role: "group", "aria-label": "Series" }, buttons);
}
