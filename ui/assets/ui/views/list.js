// The list of names on the page of views, with a search.
import { el } from "../../web/base/elements.js";
import { many } from "../../web/base/format.js";
import { viewLink } from "../parts/links.js";
import { later } from "../parts/page.js";
import { search } from "./groups.js";

/** The list, as { element, choose(name) }. `text` is what is searched for at first. */
export function nameList(groups, text, change) {
  const list = el("div", { class: "reference-list" });
  const count = el("p", { class: "quiet small", role: "status" });
  const field = el("input", {
    type: "search",
    value: text,
    placeholder: "Search names and summaries",
    "aria-label": "Search names and summaries",
  });
  let chosen = "";
  field.addEventListener("input", draw);
  field.addEventListener(
    "input",
    later(() => change(field.value), 300),
  );

  function draw() {
    const found = search(groups, field.value);
    const isSearch = field.value.trim() !== "";
    list.replaceChildren(...found.map((group) => groupBox(group, isSearch)));
    const sum = found.reduce((n, { entries }) => n + entries.length, 0);
    count.textContent = isSearch ? `${many(sum, "name")} found` : many(sum, "name");
    mark();
  }

  function groupBox({ title, entries }, isSearch) {
    const isOpen = isSearch || title === "Tables" || entries.some((e) => e.name === chosen);
    return el(
      "details",
      { open: isOpen },
      el("summary", {}, title, el("span", { class: "quiet small" }, ` ${entries.length}`)),
      el("ul", {}, entries.map(line)),
    );
  }

  const line = ({ name, summary }) =>
    el(
      "li",
      {},
      el("a", { href: viewLink(name), "data-name": name }, el("code", {}, name)),
      el("span", { class: "quiet small", title: summary }, summary || ""),
    );

  function mark() {
    for (const link of list.querySelectorAll("a")) {
      if (link.dataset.name === chosen) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }

  /** Marks a name, opens its group and brings it into sight. */
  function choose(name) {
    chosen = name;
    mark();
    const own = list.querySelector('[aria-current="true"]');
    if (!own) return;
    own.closest("details").open = true;
    const [box, top] = [list.clientHeight, own.offsetTop - list.offsetTop - list.scrollTop];
    if (top < 0 || top > box - 40) own.scrollIntoView({ block: "center" });
  }

  draw();
  const element = el(
    "nav",
    { class: "reference-side", "aria-label": "Reference" },
    field,
    count,
    list,
  );
  return { element, choose };
}
