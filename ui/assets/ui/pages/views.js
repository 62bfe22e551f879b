// The reference: tables, views, rules, functions and settings by name. The address holds the name
// and what is searched for.
import { el } from "../../web/base/elements.js";
import { onState, setState, state } from "../base/address.js";
import { frame } from "../base/frame.js";
import { api, ready } from "../base/session.js";
import { errorText, notice } from "../parts/panel.js";
import { entryPanels } from "../views/entry.js";
import { groupsOf } from "../views/groups.js";
import { nameList } from "../views/list.js";

const FIRST = "overview";

const main = frame({ title: "Views", page: "views" });
const place = el("div", { class: "reference-entry" });
let shown = null;
let groups = [];

async function show(name, list) {
  if (name === shown) return;
  shown = name;
  list.choose(name);
  document.title = `${name} · tracesql`;
  let panels;
  try {
    panels = await entryPanels(name, known(name), (await ready).traces);
  } catch (error) {
    panels = [notice(errorText(error), true)];
  }
  // A later click may have been answered before.
  if (name !== shown) return;
  place.replaceChildren(...panels);
  scrollTo({ top: 0 });
}

const known = (name) =>
  groups.flatMap(({ entries }) => entries).find((entry) => entry.name === name);

async function start() {
  groups = groupsOf(await api("/api/docs"));
  const values = state();
  const search = (text) => setState({ search: text || null }, { replace: true });
  const list = nameList(groups, values.search || "", search);
  main.append(list.element, place);
  // A click on a name keeps what is searched for.
  list.element.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-name]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    setState({ name: link.dataset.name });
    show(link.dataset.name, list);
  });
  onState((next) => show(next.name || FIRST, list));
  await show(values.name || FIRST, list);
}

start().catch((error) => main.append(notice(errorText(error), true)));
