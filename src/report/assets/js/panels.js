// Panels: a title, content with its query, or the reason why there is no content.
import { el } from "../../../../web/base/elements.js";
import { many } from "../../../../web/base/format.js";
import { missing, rows, section } from "./data.js";

// A panel with the title, the description and the query of a section.
export function panel(key, ...content) {
  const { title, about, sql } = section(key);
  return el(
    "section",
    { class: "panel", id: `panel-${key}` },
    el("header", {}, el("h2", {}, title), queryOf(sql), el("p", { class: "small" }, about)),
    ...content,
  );
}

// The panel of a section, or the reason why it is empty; null if the section does not apply.
export function panelOr(key, make) {
  const why = missing(key);
  if (!why) return panel(key, ...[make(rows(key))].flat());
  return why.status === "not_applicable" ? null : panel(key, notice(why));
}

export function notice({ status, reason }) {
  return el(
    "p",
    { class: status === "failed" ? "notice bad" : "notice" },
    status === "failed" ? `The query failed: ${reason}` : sentence(reason),
  );
}

// How many rows of a section are not in the page.
export function restNotice(left, word) {
  const are = Number(left.rows) === 1 ? "is" : "are";
  return el(
    "p",
    { class: "notice" },
    `${many(left.rows, word)} ${are} not in this page; ask for them with the SQL above.`,
  );
}

export function sentence(text) {
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(first) ? first : `${first}.`;
}

export function queryOf(sql) {
  return el("details", { class: "query" }, el("summary", {}, "SQL"), copyable(sql));
}

export function copyable(text) {
  const pre = el("pre", { tabindex: "0" }, text);
  const button = el(
    "button",
    { type: "button", class: "ghost", onclick: () => copy(text, button, pre) },
    "Copy",
  );
  return el("div", { class: "sql" }, pre, button);
}

// Some browsers have no clipboard for pages that are opened from a file. There the text is
// selected.
async function copy(text, button, pre) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(pre);
    button.textContent = "Selected";
  }
  setTimeout(() => {
    button.textContent = "Copy";
  }, 1500);
}

// Content that a click on its title opens.
export function folded(title, content) {
  return el("details", { class: "plain" }, el("summary", {}, title), content);
}

export function card(label, figure, note, title) {
  return el(
    "div",
    { class: "card" },
    el("div", { class: "label" }, label),
    el("div", { class: "figure", title: title || "" }, figure),
    el("div", { class: "note", title: typeof note === "string" ? note : "" }, note || ""),
  );
}
