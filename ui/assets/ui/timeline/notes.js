// Short notes over the tracks, such as what was selected or why nothing was. They go by themselves.
import { el } from "../../web/base/elements.js";
import { visible } from "../base/text.js";

const SHOWN_MS = 6000;
const MAX_TEXT = 400;

/** { element, say(text) }: screen readers read each note. */
export function notesOf() {
  const element = el("div", { class: "tl-toast", role: "status", "aria-live": "polite" });
  let timer = null;

  function say(text) {
    clearTimeout(timer);
    element.textContent = visible(text, MAX_TEXT);
    timer = setTimeout(() => element.replaceChildren(), SHOWN_MS);
  }

  return { element, say };
}
