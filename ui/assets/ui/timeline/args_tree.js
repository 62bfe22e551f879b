// The args of an event as a tree. Branches are built when they are opened, because args can be
// megabytes.
import { el } from "../../web/base/elements.js";
import { grouped, many } from "../../web/base/format.js";
import { textOf } from "../base/text.js";

/** Members of a branch that are shown at first, and with every further click. */
const PAGE = 200;
/** Longer texts of args are cut, in UTF-16 units. */
const MAX_TEXT = 4000;

/** A list of the members of a value. */
export function argsTree(value) {
  return membersOf(value, value !== null && typeof value === "object" ? entriesOf(value) : []);
}

const entriesOf = (value) =>
  Array.isArray(value) ? value.map((v, i) => [String(i), v]) : Object.entries(value);

function membersOf(value, entries) {
  const list = el("ul", { class: "tl-args" });
  let shown = 0;
  const more = el("button", { type: "button", class: "ghost small", onclick: () => grow() });
  const last = el("li", {}, more);
  function grow() {
    const next = entries.slice(shown, shown + PAGE).map(member);
    shown += next.length;
    last.before(...next);
    more.textContent = `${grouped(entries.length - shown)} more`;
    last.hidden = shown >= entries.length;
  }
  list.append(last);
  grow();
  return list;
}

function member([name, value]) {
  const key = el("span", { class: "tl-arg-name" }, textOf(name, 300));
  if (value === null || typeof value !== "object")
    return el("li", {}, key, el("span", { class: "tl-arg-value" }, leaf(value)));
  const entries = entriesOf(value);
  // Short lists of plain values, such as shapes, are one line.
  if (isShort(value))
    return el("li", {}, key, el("span", { class: "tl-arg-value" }, textOf(JSON.stringify(value))));
  const kind = Array.isArray(value) ? "element" : "member";
  const note = el("span", { class: "quiet" }, ` ${many(entries.length, kind)}`);
  const branch = el("details", {}, el("summary", {}, key, note));
  branch.addEventListener("toggle", () => {
    if (branch.open && branch.children.length === 1) branch.append(membersOf(value, entries));
  });
  return el("li", {}, branch);
}

function isShort(value) {
  if (!Array.isArray(value) || value.length > 16) return false;
  return JSON.stringify(value).length <= 160;
}

function leaf(value) {
  return typeof value === "string" ? textOf(value, MAX_TEXT) : String(value);
}
