// Names of kernels and operators: short where the whole name says no more, and with an ellipsis in
// the middle where there is too little room, because names differ at their ends.
import { el } from "../../../../web/base/elements.js";
import { rows, state } from "./data.js";

/** Characters at the end of a name that stay in sight, in wide and in narrow windows. */
const [WIDE_TAIL, NARROW_TAIL] = [22, 10];
const NARROW = matchMedia("(max-width: 700px)");

/** A name that is cut in its middle if it does not fit. */
export function fitted(text) {
  const tail = NARROW.matches ? NARROW_TAIL : WIDE_TAIL;
  if (text.length <= tail + 4) return text;
  const at = text.length - tail;
  return el(
    "span",
    { class: "fitted" },
    el("span", { class: "head" }, text.slice(0, at)),
    el("span", { class: "tail" }, text.slice(at)),
  );
}

const kept = new Map();

/** The short name of a kernel of the shown trace; other names stay as they are. */
export function shortName(name) {
  if (!kept.has(state.trace)) kept.set(state.trace, labels(rows("kernels")));
  return kept.get(state.trace).get(name) || name;
}

// The label of each name. If several names have the same short name, the words by which they differ
// are added to it.
function labels(list) {
  const groups = new Map();
  for (const { name, short_name: short } of list) {
    const own = groups.get(short || name) || new Set();
    groups.set(short || name, own.add(name));
  }
  const found = new Map();
  for (const [short, names] of groups) {
    const all = [...names];
    const parts = all.length > 1 ? differences(all) : [""];
    all.forEach((name, i) => found.set(name, parts[i] ? `${short} · ${parts[i]}` : short));
  }
  return found;
}

// The words by which names differ, without namespaces, and with numbers only if words do not suffice.
// Names with the same such words stay whole.
function differences(names) {
  const words = names.map((name) => new Set(name.match(/\b\w+\b(?!::)/g)));
  const own = words.map((some) => [...some].filter((w) => !words.every((other) => other.has(w))));
  const isNumber = (word) => /^\d/.test(word);
  const short = own.map((some) => some.filter((w) => !isNumber(w)).join(" "));
  if (new Set(short).size === names.length) return short;
  const long = own.map((some) => some.sort((a, b) => isNumber(b) - isNumber(a)).join(" "));
  return long.map((text, i) => (long.filter((t) => t === text).length > 1 ? names[i] : text));
}
