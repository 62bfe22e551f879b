// One row of a result with all its columns, exact values and whole texts.
import { el } from "../../web/base/elements.js";
import { manyLines } from "./lines.js";
import { exactText, exactValue, isInstant, isNumber, shown } from "./values.js";

/** Longer texts are cut in a record; copies hold them whole. */
const MOST = 20000;

function valueOf(value, column) {
  if (value === null || value === undefined) return el("span", { class: "none" }, "NULL");
  if (!isNumber(column))
    return el("bdi", { class: "text-of-trace" }, manyLines(textOf(value), MOST));
  const [exact, short] = [exactValue(value, column), shown(value, column)];
  return exact === short || isInstant(column)
    ? exact
    : [exact, el("span", { class: "quiet" }, ` (${short})`)];
}

// Arguments and shapes are JSON in a text: lines make it readable.
function textOf(value) {
  if (typeof value === "object") return JSON.stringify(value, null, 2);
  const text = exactText(value);
  if (!/^\s*[[{]/.test(text) || text.length > MOST) return text;
  try {
    // Numbers of the text must not pass through a double.
    JSON.parse(text);
    return text.length > 80 ? text.replace(/,"/g, ',\n"') : text;
  } catch {
    return text;
  }
}

/** The record of a row, as an element. `link` is its address in the timeline, or null. */
export function record(columns, row, link) {
  const lines = columns.flatMap((column, at) => [
    el("dt", { title: column.unit || "" }, column.name),
    el("dd", {}, valueOf(row[at], column)),
  ]);
  return el(
    "div",
    { class: "row-record" },
    link ? el("p", {}, el("a", { href: link }, "Show in the timeline")) : null,
    el(
      "div",
      { class: "record-box", role: "group", tabindex: "0", "aria-label": "The chosen row" },
      el("dl", { class: "record full" }, lines),
    ),
  );
}
