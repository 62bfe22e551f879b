// The parts of a whole as one bar.
import { el, swatch } from "../../../../web/base/elements.js";
import { NONE, exact, human, pct } from "../../../../web/base/format.js";

// Parts of a whole as one bar: [label, value, colour]; with a legend unless there is one for
// several bars.
export function stackBar(title, parts, total, unit, hasLegend = true) {
  const shown = parts.filter(([, value]) => value > 0);
  const share = (value) => (total > 0 ? pct((100 * value) / total) : NONE);
  return el(
    "div",
    { class: "stacked" },
    el("div", { class: "small quiet" }, title),
    el(
      "div",
      {
        class: "stack-bar",
        role: "img",
        "aria-label":
          `${title}: ` + shown.map(([label, value]) => `${label} ${share(value)}`).join(", "),
      },
      shown.map(([label, value, colour]) =>
        el("span", {
          width: `${(100 * value) / total}%`,
          background: colour,
          title: `${label}: ${exact(value, unit)}, ${share(value)} of ${exact(total, unit)}`,
        }),
      ),
    ),
    !hasLegend
      ? null
      : el(
          "div",
          { class: "legend" },
          shown.map(([label, value, colour]) =>
            el(
              "span",
              { title: exact(value, unit) },
              swatch(colour),
              label,
              el("b", {}, share(value)),
              human(value, unit),
            ),
          ),
        ),
  );
}
