// Tabs: an overview, then a table for each dimension.
import { el } from "../../../web/base/elements.js";
import { DATA, TITLES } from "./comparison.js";
import { startTheme } from "./dark_button.js";
import { overviewTab, panel, perWhat } from "./overview.js";
import { rowsTable } from "./rows_table.js";

const dimensions = DATA.by.filter((by) => DATA.rows.some((r) => r.dimension === by));
const TABS = [
  { key: "overview", title: "Overview", draw: overviewTab },
  ...dimensions.map((by) => ({
    key: by,
    title: TITLES[by] || by,
    draw: () => [
      panel(
        TITLES[by] || by,
        `Times are ${perWhat()}.`,
        rowsTable(DATA.rows.filter((r) => r.dimension === by)),
      ),
    ],
  })),
];

const ofHash = () => TABS.find((t) => `#${t.key}` === location.hash) || TABS[0];

function button(tab, chosen) {
  return el(
    "button",
    {
      type: "button",
      role: "tab",
      id: `tab-${tab.key}`,
      "aria-selected": tab === chosen,
      "aria-controls": "main",
      tabindex: tab === chosen ? "0" : "-1",
      onclick: () => (location.hash = tab.key),
      onkeydown: (event) => move(event, tab),
    },
    tab.title,
  );
}

// The arrow keys go from tab to tab.
function move(event, tab) {
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!by) return;
  const next = TABS[(TABS.indexOf(tab) + by + TABS.length) % TABS.length];
  location.hash = next.key;
  draw();
  document.getElementById(`tab-${next.key}`).focus();
}

function draw() {
  const chosen = ofHash();
  const bar = document.getElementById("tabs");
  bar.replaceChildren(...TABS.map((tab) => button(tab, chosen)));
  const main = document.getElementById("main");
  main.setAttribute("aria-labelledby", `tab-${chosen.key}`);
  main.replaceChildren(...chosen.draw().flat().filter(Boolean));
}

function start() {
  startTheme();
  const sides = `${DATA.candidate.name} compared with ${DATA.base.name}`;
  document.getElementById("footer").textContent =
    `tracesql ${DATA.tracesql_version}: ${sides}. Exact times are in tooltips.`;
  window.addEventListener("hashchange", draw);
  draw();
}

start();
