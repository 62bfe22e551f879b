// The results of a run: one, or one for each statement with a tab of its own.
import { el } from "../../web/base/elements.js";
import { visible } from "../base/text.js";

/** The place of results, as { element, clear(), add(title, element, stop), note(element) }. */
export function results() {
  const bar = el("div", { class: "result-tabs", role: "tablist", "aria-label": "Results" });
  const body = el("div", { class: "results", role: "region", "aria-label": "Results" });
  const message = el("div", { class: "run-message" });
  const element = el("div", { class: "result-area" }, message, bar, body);
  let list = [];

  function clear() {
    list.forEach(({ stop }) => stop && stop());
    list = [];
    bar.replaceChildren();
    body.replaceChildren();
    message.replaceChildren();
  }

  function choose(at) {
    list.forEach(({ tab, element: own }, i) => {
      own.hidden = i !== at;
      tab.setAttribute("aria-selected", String(i === at));
      tab.tabIndex = i === at ? 0 : -1;
    });
  }

  function move(event, at) {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    const next = (at + by + list.length) % list.length;
    choose(next);
    list[next].tab.focus();
  }

  /** Adds a result and shows it. */
  function add(title, own, stop) {
    const at = list.length;
    const name = visible(title.replace(/\s+/g, " ").trim(), 30);
    const tab = el(
      "button",
      { type: "button", role: "tab", title: name, onclick: () => choose(at) },
      `${at + 1}`,
      el("span", { class: "quiet" }, ` ${name}`),
    );
    tab.addEventListener("keydown", (event) => move(event, at));
    list.push({ tab, element: own, stop });
    bar.append(tab);
    bar.hidden = list.length < 2;
    body.append(own);
    choose(at);
  }

  return { element, clear, add, note: (...nodes) => message.replaceChildren(...nodes) };
}
