// The overview as cards: one for each figure. Figures of several traces are added up, or say from
// where to where they go.
import { el } from "../../web/base/elements.js";
import { exact, human, words } from "../../web/base/format.js";
import { textOf, visible } from "../base/text.js";

/** The query of the cards. */
export const OVERVIEW = "SELECT * FROM overview";

const SUMS = ["events", "operators", "kernels", "copies", "collectives", "memory_events"];
const CARDS = [
  ["duration_ns", "ns"],
  ["steps", "count"],
  ["events", "count"],
  ["operators", "count"],
  ["kernels", "count"],
  ["copies", "count"],
  ["collectives", "count"],
  ["memory_events", "count"],
  ["skipped_events", "count"],
];

/** Cards of the rows of `OVERVIEW`. */
export function overviewCards(rows) {
  if (!rows.length) return [];
  const figures = CARDS.map(([name, unit]) => card(name, unit, rows));
  return [deviceCard(rows), ...figures].filter(Boolean);
}

function card(name, unit, rows) {
  const values = rows.map((row) => row[name]).filter((v) => v !== null && v !== undefined);
  if (!values.length || (name !== "events" && values.every((v) => Number(v) === 0))) return null;
  if (SUMS.includes(name) || name === "skipped_events") {
    const sum = values.reduce((a, b) => a + BigInt(b), 0n);
    return made(words(name), human(String(sum), unit), exact(String(sum), unit));
  }
  const sorted = values.slice().sort((a, b) => Number(a) - Number(b));
  const [least, most] = [sorted[0], sorted[sorted.length - 1]];
  const isOne = String(least) === String(most);
  const figure = isOne ? human(most, unit) : between(human(least, unit), human(most, unit));
  const title = isOne ? exact(most, unit) : `${exact(least, unit)} to ${exact(most, unit)}`;
  return made(words(name), figure, title, isOne ? "" : "shortest to longest trace");
}

// "1 ms – 2 ms" is "1 – 2 ms".
function between(least, most) {
  const [number, unit] = least.split(" ");
  return most.endsWith(` ${unit}`) ? `${number} – ${most}` : `${least} – ${most}`;
}

function deviceCard(rows) {
  const names = [...new Set(rows.map((row) => row.device_names).filter(Boolean))];
  if (!names.length) return null;
  const used = rows.map((row) => Number(row.devices_used)).reduce((a, b) => a + b, 0);
  const note = `${used} in use over all traces`;
  return made("Devices", textOf(names.join("; "), 120), visible(names.join("\n"), 1000), note);
}

function made(label, figure, title, note) {
  return el(
    "div",
    { class: "card" },
    el("div", { class: "label" }, label),
    el("div", { class: "figure", title }, figure),
    note ? el("div", { class: "note" }, note) : null,
  );
}
