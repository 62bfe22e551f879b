// Texts of traces on a page. They can hold anything: characters that turn the direction of what
// follows, control characters, megabytes. Such characters are shown, and long texts are cut with
// their length.
import { el } from "../../web/base/elements.js";
import { grouped } from "../../web/base/format.js";

/** Longer texts are cut, in UTF-16 units. */
export const MAX_LENGTH = 2000;

// Control characters, marks of direction, characters without width, halves of surrogate pairs.
const UNSEEN = new RegExp(
  "[\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u180e\\u200b-\\u200f\\u2028-\\u202e" +
    "\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb\\ud800-\\udfff]",
  "gu",
);

function shown(character) {
  if (character === "\n") return "↵";
  if (character === "\t") return "⇥";
  const code = character.codePointAt(0);
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

/** A text with every unseen character as a sign, and without its end if it is too long. */
export function visible(text, limit = MAX_LENGTH) {
  const whole = String(text);
  if (whole.length <= limit) return whole.replace(UNSEEN, shown);
  const start = whole.slice(0, limit).replace(UNSEEN, shown);
  return `${start}… (${grouped(whole.length)} characters)`;
}

/** An element for a text of a trace, which its direction cannot leave. */
export function textOf(text, limit = MAX_LENGTH) {
  return el("bdi", { class: "text-of-trace" }, visible(text, limit));
}
