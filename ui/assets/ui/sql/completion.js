// The list of completions below the cursor. What fits there comes from the server, as in the shell.
import { el } from "../../web/base/elements.js";
import { api } from "../base/session.js";
import { visible } from "../base/text.js";
import { later } from "../parts/page.js";

const WAIT_MS = 60;
/** More items are not shown; another letter makes them fewer. */
const MOST = 100;
/** Only the text around the cursor is sent, in UTF-16 units. */
const MOST_TEXT = 200_000;

/**
 * Completions for a text area, as { open(isAsked), typed(event), key(event), close() }. `layer`
 * holds the same text at the same places, `insert(text, start, end)` replaces a part of it.
 */
export function completion({ area, layer, frame, insert }) {
  const box = el("ul", { class: "completions", role: "listbox", id: "completions", hidden: true });
  box.setAttribute("aria-label", "Completions");
  const hint = el("div", { class: "signature", role: "status", hidden: true });
  frame.append(box, hint);
  area.setAttribute("aria-controls", "completions");
  area.setAttribute("aria-autocomplete", "list");
  const view = { items: [], start: 0, at: -1, active: -1 };
  let stop = null;

  async function open(isAsked) {
    if (stop) stop.abort();
    const [at, text] = [area.selectionStart, area.value];
    if (area.selectionEnd !== at || text.length > MOST_TEXT) return close();
    stop = new AbortController();
    try {
      const found = await api("/api/complete", { text, at }, { signal: stop.signal });
      if (area.value === text && area.selectionStart === at) take(found, at, isAsked);
    } catch {
      // Without an answer there is no list; the next key asks again.
    }
    return undefined;
  }

  function take({ start, items, signature }, at, isAsked) {
    const word = area.value.slice(start, at);
    const isWhole = items.length === 1 && items[0] === word;
    showSignature(signature);
    if (!items.length || isWhole) return closeList();
    // One item that was asked for needs no list.
    if (isAsked && items.length === 1) {
      insert(items[0], start, at);
      return closeList();
    }
    Object.assign(view, { items: items.slice(0, MOST), start, at, active: isAsked ? 0 : -1 });
    box.replaceChildren(...view.items.map(item), ...moreLine(items.length));
    box.hidden = false;
    place(start);
    return activate(view.active);
  }

  function item(text, i) {
    const made = el("li", { role: "option", id: `completion-${i}` }, visible(text, 200));
    // The text area keeps the focus.
    made.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      accept(i);
    });
    return made;
  }

  const moreLine = (count) =>
    count > MOST ? [el("li", { class: "quiet", role: "presentation" }, `… ${count} in all`)] : [];

  // Below the character at `start`, or above it where there is no room.
  function place(start) {
    const { left, top, bottom } = placeOf(start);
    const own = frame.getBoundingClientRect();
    const isAbove = bottom + box.offsetHeight > innerHeight && top > box.offsetHeight;
    box.style.left = `${Math.max(0, Math.min(left - own.left, own.width - box.offsetWidth))}px`;
    box.style.top = `${(isAbove ? top - box.offsetHeight : bottom) - own.top}px`;
  }

  function placeOf(start) {
    const walker = document.createTreeWalker(layer, NodeFilter.SHOW_TEXT);
    let before = 0;
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (before + node.length > start) {
        const range = document.createRange();
        range.setStart(node, start - before);
        range.setEnd(node, start - before + 1);
        return range.getBoundingClientRect();
      }
      before += node.length;
    }
    return area.getBoundingClientRect();
  }

  function showSignature(signature) {
    hint.hidden = !signature;
    hint.textContent = signature ? visible(signature, 400) : "";
  }

  function activate(at) {
    view.active = at;
    [...box.children].forEach((line, i) => line.setAttribute("aria-selected", String(i === at)));
    if (at < 0) area.removeAttribute("aria-activedescendant");
    else {
      area.setAttribute("aria-activedescendant", `completion-${at}`);
      box.children[at].scrollIntoView({ block: "nearest" });
    }
  }

  function accept(at) {
    insert(view.items[at], view.start, area.selectionStart);
    closeList();
  }

  function closeList() {
    box.hidden = true;
    area.removeAttribute("aria-activedescendant");
  }

  function close() {
    soon.cancel();
    if (stop) stop.abort();
    closeList();
    showSignature(null);
  }

  /** Handles a key while the list is open; gives whether it did. */
  function key(event) {
    if (box.hidden) return false;
    const count = view.items.length;
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[event.key];
    if (by && !event.ctrlKey) activate(next(by, count));
    else if (event.key === "Escape") close();
    else if (event.key === "Tab" && !event.shiftKey) accept(Math.max(0, view.active));
    else if (event.key === "Enter" && !isCommand(event) && view.active >= 0) accept(view.active);
    else return false;
    event.preventDefault();
    return true;
  }

  function next(by, count) {
    if (view.active < 0) return by > 0 ? 0 : count - 1;
    if (Math.abs(by) > 1) return Math.min(Math.max(view.active + by, 0), count - 1);
    return (view.active + by + count) % count;
  }

  const isCommand = (event) => event.ctrlKey || event.metaKey;
  const soon = later(() => open(false), WAIT_MS);

  /** Opens the list while a word is typed, and closes it after other characters. */
  function typed(event) {
    const before = area.value.slice(0, area.selectionStart);
    const isWord = /[\w.$]$/.test(before) && !/(^|[^\w.$])\d+$/.test(before);
    const isTyping = (event.inputType || "").startsWith("insert") || !box.hidden;
    if (isTyping && (isWord || before.endsWith("("))) soon();
    else close();
  }

  area.addEventListener("blur", close);
  area.addEventListener("click", close);
  return { open, typed, key, close };
}
