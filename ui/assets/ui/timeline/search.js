// The search: a name contains, a regular expression, or a condition of SQL. Hits are ticks in the
// overview; Enter goes from hit to hit.
import { el } from "../../web/base/elements.js";
import { grouped, many } from "../../web/base/format.js";
import { visible } from "../base/text.js";

const MODES = [
  ["contains", "Name contains"],
  ["regex", "Regular expression"],
  ["sql", "SQL condition"],
];
const EXAMPLES = { contains: "gemm", regex: "^aten::(add|mul)", sql: "dur_ns > 1000000" };
const LIMIT = 1000;

/** The search of `tl`; `choose(hit)` selects one, `changed()` is called when the text changed. */
export function searchOf(tl, { ask, choose, changed }) {
  let [controller, asked] = [null, null];
  const input = el("input", {
    type: "search",
    class: "tl-search",
    placeholder: "Find events ( / )",
    "aria-label": "Find events",
    spellcheck: "false",
    autocomplete: "off",
  });
  const mode = el(
    "select",
    { "aria-label": "How to search" },
    MODES.map(([key, text]) => el("option", { value: key }, text)),
  );
  const count = el("span", { class: "quiet small tl-count", role: "status" });
  const step = (text, label, by) =>
    el(
      "button",
      {
        type: "button",
        class: "ghost",
        title: label,
        "aria-label": label,
        onclick: () => go(by),
      },
      text,
    );
  const form = el(
    "div",
    { class: "tl-find", role: "search" },
    mode,
    input,
    step("‹", "Previous hit (Shift+Enter)", -1),
    step("›", "Next hit (Enter)", 1),
    count,
  );

  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      go(event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape") {
      event.preventDefault();
      set("", mode.value);
      tl.scene.canvas.focus();
    }
  });
  mode.addEventListener("change", () => {
    input.placeholder = `Find events, such as ${EXAMPLES[mode.value]}`;
    if (input.value) run();
  });
  input.addEventListener("input", () => {
    if (!input.value) set("", mode.value);
  });

  const nameOf = () => `${mode.value} ${input.value}`;

  /** Searches for a text. */
  function set(text, how) {
    input.value = text;
    mode.value = knows(how) ? how : "contains";
    return run();
  }

  async function run() {
    controller?.abort();
    asked = nameOf();
    tl.hits = { list: [], at: -1 };
    changed();
    tl.redraw();
    count.textContent = input.value ? "Searching …" : "";
    if (!input.value) return;
    controller = new AbortController();
    const body = { text: input.value, mode: mode.value, limit: LIMIT };
    try {
      const answer = await ask("/api/search", body, { signal: controller.signal });
      tl.hits = { list: answer.hits, at: -1, count: answer.count };
      say();
    } catch (error) {
      if (error.name !== "AbortError") count.textContent = visible(error.message, 200);
    }
    tl.redraw();
  }

  function say() {
    const { list, at, count: all } = tl.hits;
    const cut = all > list.length ? `, the first ${grouped(list.length)} by time` : "";
    const where = at >= 0 ? `${grouped(at + 1)} of ` : "";
    count.textContent = all ? `${where}${many(all, "hit")}${cut}` : "No hit";
  }

  /** Goes to the next hit (1) or the one before (-1); the first one is the next in sight. */
  async function go(by) {
    if (asked !== nameOf()) await run();
    const { list, at } = tl.hits;
    if (!list.length) return;
    const first = Math.max(
      0,
      list.findIndex((hit) => hit.start >= tl.view.start),
    );
    tl.hits.at = at < 0 ? first : (at + by + list.length) % list.length;
    say();
    const hit = list[tl.hits.at];
    choose({ ...hit, id: hit.event_id, end: hit.end ?? hit.start });
  }

  const knows = (how) => MODES.some(([key]) => key === how);
  return { form, input, go, set, knows, text: () => input.value || null, mode: () => mode.value };
}
