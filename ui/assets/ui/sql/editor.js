// The editor: a text area over a layer with the same text in colours. What the words are comes from
// the server.
import { el } from "../../web/base/elements.js";
import { many } from "../../web/base/format.js";
import { visible } from "../base/text.js";
import { completion } from "./completion.js";
import { kept, spanSource } from "./spans.js";

const HELP =
  "Statements of SQL. Tab or Ctrl and space complete, Ctrl and Enter run all or the selection. " +
  "Escape and then Tab leave the editor.";

/**
 * The editor, as { element, text(), setText(text), selection(), statements(), markError(error),
 * goTo(start, end), insert(text), focus() }.
 *
 * @param {object} on
 * @param {Function} on.change (text) after each change
 * @param {Function} on.parameters (names) when the names of parameters are known
 * @param {Function} on.run () by Ctrl and Enter
 * @param {Function} on.cancel () by Escape; gives whether there was something to cancel
 */
export function editor(on) {
  const area = el("textarea", {
    class: "editor-text",
    id: "sql",
    spellcheck: "false",
    autocomplete: "off",
    autocapitalize: "off",
    "aria-label": "SQL",
    "aria-description": HELP,
    placeholder: "SELECT …",
  });
  const layer = el("pre", { class: "editor-layer", "aria-hidden": "true" });
  const unseen = el("p", { class: "small bad editor-note", role: "status", hidden: true });
  const frame = el("div", { class: "editor-frame" }, layer, area, unseen);
  const known = { text: "", spans: [], statements: [], error: null };
  let isLeaving = false;

  const source = spanSource(({ text, spans, statements, parameters }) => {
    if (text !== area.value) return;
    Object.assign(known, { text, spans, statements });
    paint();
    on.parameters(parameters);
  });
  const list = completion({ area, layer, frame, insert });

  // Each character of the layer lies under that of the text area.
  function paint() {
    const text = area.value;
    const nodes = [];
    let at = 0;
    for (const [start, end, kind] of cuts(known.spans, known.error)) {
      if (start > at) nodes.push(text.slice(at, start));
      nodes.push(el("span", { class: kind }, text.slice(start, end)));
      at = end;
    }
    layer.replaceChildren(...nodes, `${text.slice(at)}\n`);
    scroll();
  }

  function scroll() {
    layer.scrollTop = area.scrollTop;
    layer.scrollLeft = area.scrollLeft;
  }

  function changed() {
    const text = area.value;
    known.spans = kept(known.spans, known.text, text);
    known.text = text;
    known.error = null;
    known.statements = [];
    const hidden = unseenIn(text);
    unseen.hidden = hidden === 0;
    unseen.textContent = `${many(hidden, "character")} that cannot be seen or turn the text.`;
    paint();
    source.ask(text);
    on.change(text);
  }

  function insert(text, start = area.selectionStart, end = area.selectionEnd) {
    area.focus();
    area.setSelectionRange(start, end);
    // Only this way the browser's Undo knows of it.
    const isDone = document.execCommand("insertText", false, text);
    if (isDone) return;
    area.setRangeText(text, start, end, "end");
    changed();
  }

  function key(event) {
    if (event.key === "Escape" && on.cancel()) {
      event.preventDefault();
      return;
    }
    if (list.key(event)) return;
    const isCommand = event.ctrlKey || event.metaKey;
    if (event.key === "Enter" && isCommand) {
      event.preventDefault();
      list.close();
      on.run();
    } else if (event.key === "Escape") {
      isLeaving = true;
      return;
    } else if ((event.key === "Tab" && !event.shiftKey && !isLeaving) || isAsked(event)) {
      if (event.key !== "Tab" || isAfterWord()) {
        event.preventDefault();
        list.open(true);
      }
    }
    if (event.key !== "Tab") isLeaving = false;
  }

  const isAsked = (event) => event.code === "Space" && event.ctrlKey;
  const isAfterWord = () =>
    area.selectionStart === area.selectionEnd &&
    /[\w.$"]$/.test(area.value.slice(0, area.selectionStart));

  area.addEventListener("input", (event) => {
    changed();
    list.typed(event);
  });
  area.addEventListener("scroll", scroll, { passive: true });
  area.addEventListener("keydown", key);
  new ResizeObserver(scroll).observe(area);

  /** Replaces the whole text. */
  function setText(text) {
    if (text === area.value) return;
    area.value = text;
    changed();
  }

  /** Underlines the place of an error, given in UTF-16 units of the whole text. */
  function markError(error) {
    known.error = error;
    paint();
  }

  /** Selects a part of the text and brings it into sight. */
  function goTo(start, end) {
    area.focus();
    area.setSelectionRange(start, Math.max(start, end));
    const line = area.value.slice(0, start).split("\n").length - 1;
    const height = parseFloat(getComputedStyle(area).lineHeight);
    const top = line * height;
    if (top < area.scrollTop || top > area.scrollTop + area.clientHeight - 2 * height)
      area.scrollTop = Math.max(0, top - area.clientHeight / 2);
  }

  const selection = () => [area.selectionStart, area.selectionEnd];
  return {
    element: frame,
    text: () => area.value,
    setText,
    selection,
    statements: () => known.statements,
    know: () => source.askNow(area.value),
    markError,
    goTo,
    insert,
    focus: () => area.focus(),
  };
}

// Another page can hand over a statement, so what it hides is said.
function unseenIn(text) {
  const plain = text.replace(/[\t\r\n]/g, " ");
  if (visible(plain, Infinity) === plain) return 0;
  return [...plain].filter((c) => visible(c, Infinity) !== c).length;
}

// Spans as parts that do not overlap, with those of an error in the class too.
function cuts(spans, error) {
  const own = spans.map(([start, end, kind]) => [start, end, `sql-${kind}`]);
  if (!error || error.end <= error.start) return own;
  const parts = own.flatMap(([start, end, kind]) => [
    [start, Math.min(end, error.start), kind],
    [Math.max(start, error.start), Math.min(end, error.end), `${kind} sql-error`],
    [Math.max(start, error.end), end, kind],
  ]);
  const whole = parts.filter(([start, end]) => end > start);
  return [...whole, ...gaps(whole, error)].sort((a, b) => a[0] - b[0]);
}

// What of an error no span covers.
function gaps(parts, { start, end }) {
  const found = [];
  let at = start;
  for (const [from, to] of parts) {
    if (to <= at || from >= end) continue;
    if (from > at) found.push([at, from, "sql-error"]);
    at = to;
  }
  if (at < end) found.push([at, end, "sql-error"]);
  return found;
}
