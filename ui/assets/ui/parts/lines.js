// Texts of several lines: statements and long values of traces.
import { grouped } from "../../web/base/format.js";
import { visible } from "../base/text.js";

/** A text with its lines and tabs, in which every other unseen character is a sign. */
export function visibleLines(text) {
  const pieces = String(text).split(/(\r?\n|\t)/);
  return pieces.map((piece, i) => (i % 2 ? piece : visible(piece, Infinity))).join("");
}

/** The same, cut after `most` UTF-16 units with the whole length named. */
export function manyLines(text, most = 20000) {
  const whole = String(text);
  if (whole.length <= most) return visibleLines(whole);
  return `${visibleLines(whole.slice(0, most))}… (${grouped(whole.length)} characters)`;
}
