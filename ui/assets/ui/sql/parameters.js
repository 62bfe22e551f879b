// The form of a statement's parameters `$name`.
import { el } from "../../web/base/elements.js";
import { visible } from "../base/text.js";

const HINT = "A number, true, false, NULL, or a text; in quotes '…' it is a text in any case";

/**
 * What a field means: a number, a truth value, null or a text; large numbers stay exact texts.
 * Nothing for an empty field.
 */
export function valueOf(text) {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  if (/^'.*'$/s.test(trimmed)) return trimmed.slice(1, -1).replaceAll("''", "'");
  if (/^null$/i.test(trimmed)) return null;
  if (/^(true|false)$/i.test(trimmed)) return trimmed.toLowerCase() === "true";
  const isNumber = /^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed);
  const number = Number(trimmed);
  const isExact = !/^-?\d+$/.test(trimmed) || Number.isSafeInteger(number);
  return isNumber && isExact ? number : text;
}

/**
 * The form, as { element, set(values), show(names), texts(), values() }. `change` is called when a
 * value changes, `run` by Enter.
 */
export function parameterForm({ change, run }) {
  const known = new Map();
  let names = [];
  const element = el("div", { class: "parameters", role: "group", hidden: true });
  element.setAttribute("aria-label", "Parameters");

  function field(name) {
    const input = el("input", { type: "text", value: known.get(name) || "", title: HINT });
    input.addEventListener("input", () => {
      known.set(name, input.value);
      change();
    });
    input.addEventListener("keydown", (event) => event.key === "Enter" && run());
    return el("label", {}, el("code", {}, `$${visible(name, 80)}`), input);
  }

  /** Shows fields for the parameters of a statement. */
  function show(wanted) {
    const next = wanted.map((name) => name.replace(/^\$/, ""));
    if (next.join("\n") === names.join("\n")) return;
    names = next;
    element.hidden = names.length === 0;
    element.replaceChildren(...names.map(field));
  }

  /** Takes texts by name, as the address has them. */
  function set(texts) {
    for (const [name, text] of Object.entries(texts)) known.set(name, text);
    const shown = names;
    names = [];
    show(shown);
  }

  const texts = () => Object.fromEntries(names.map((name) => [name, known.get(name) || ""]));
  const values = () =>
    Object.fromEntries(names.map((name) => [name, valueOf(known.get(name) || "")]));
  return { element, set, show, texts, values };
}
