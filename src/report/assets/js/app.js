// Tabs, the choice of the trace, light and dark.
import { el } from "../../../../web/base/elements.js";
import { many } from "../../../../web/base/format.js";
import { forgetSurfaces, redrawSurfaces } from "../../../../web/charts/surface.js";
import { hideTooltip } from "../../../../web/charts/tooltip.js";
import { sunburstTab } from "./call_sunburst.js";
import { DATA, TRACES, allRows, isApplicable, missing, rows, state, traceName } from "./data.js";
import { findingsTab } from "./findings.js";
import { flameTab } from "./flame.js";
import { flightTab } from "./flight.js";
import { memoryTab } from "./memory.js";
import { mllmTab } from "./mllm.js";
import { modulesTab } from "./modules.js";
import { followAddress, onNavigate, openTab } from "./navigation.js";
import { overviewTab } from "./overview.js";
import { sentence } from "./panels.js";
import { provenanceTab } from "./provenance.js";
import { ranksTab } from "./ranks.js";
import { watchEdges } from "./scroll_hint.js";
import { snapshotTab } from "./snapshots.js";
import { kernelsTab, operatorsTab, timeTab } from "./time.js";

const TABS = [
  { key: "overview", title: "Overview", draw: overviewTab },
  { key: "findings", title: "Findings", draw: findingsTab, needs: ["findings"] },
  { key: "time", title: "Steps and devices", draw: timeTab, needs: ["steps", "device_time"] },
  { key: "operators", title: "Operators", draw: operatorsTab, needs: ["operators"] },
  { key: "kernels", title: "Kernels", draw: kernelsTab, needs: ["kernels"] },
  { key: "memory", title: "Memory", draw: memoryTab, needs: ["memory_curve"] },
  { key: "modules", title: "Modules", draw: modulesTab, needs: ["modules"] },
  { key: "flame", title: "Flame graph", draw: flameTab, needs: ["flame"] },
  { key: "sunburst", title: "Sunburst", draw: sunburstTab, needs: ["call_graph"] },
  {
    key: "ranks",
    title: "Ranks",
    draw: ranksTab,
    needs: ["ranks"],
    isShown: () =>
      TRACES.length > 1 && (allRows("ranks").length > 0 || allRows("stragglers").length > 0),
  },
  { key: "mllm", title: "perf.json", draw: mllmTab, needs: ["mllm_summary"] },
  { key: "snapshots", title: "Snapshot", draw: snapshotTab, needs: ["snapshot_devices"] },
  { key: "flight", title: "Hangs", draw: flightTab, needs: ["flight_hangs"] },
  { key: "provenance", title: "Provenance", draw: provenanceTab },
];

function shownTabs() {
  return TABS.filter((t) =>
    t.isShown ? t.isShown() : !t.needs || t.needs.some((key) => isApplicable(key)),
  );
}

// Why a tab has nothing to show for the chosen trace; undefined if it has something.
function emptyReason(t) {
  if (t.key === "findings" || t.isShown || !t.needs) return undefined;
  const reasons = t.needs.map((key) => missing(key));
  return reasons.every(Boolean) ? reasons[0].reason : undefined;
}

function tabButton(t) {
  const found = t.key === "findings" ? rows("findings").filter((f) => f.status === "finding") : [];
  const empty = emptyReason(t);
  const grave = found.some((f) => f.severity === "high");
  return el(
    "button",
    {
      type: "button",
      role: "tab",
      class: empty ? "empty" : undefined,
      title: empty && sentence(`Nothing to show: ${empty}`),
      id: `tab-${t.key}`,
      "aria-selected": t.key === state.tab,
      "aria-controls": "main",
      tabindex: t.key === state.tab ? "0" : "-1",
      onclick: () => openTab(t.key),
      onkeydown: (e) => move(e, t),
    },
    t.title,
    empty ? el("span", { class: "unseen" }, " (nothing to show)") : null,
    found.length ? el("span", { class: grave ? "dot" : "dot calm" }, String(found.length)) : null,
  );
}

// The bar of tabs scrolls in narrow windows.
const showEdges = watchEdges(
  document.getElementById("tabs"),
  document.getElementById("tabs").parentElement,
);

// The arrow keys go from tab to tab.
function move(event, t) {
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!by) return;
  const tabs = shownTabs();
  const next = tabs[(tabs.findIndex((x) => x.key === t.key) + by + tabs.length) % tabs.length];
  openTab(next.key);
  document.getElementById(`tab-${next.key}`).focus();
}

function draw() {
  const tabs = shownTabs();
  const tab = tabs.find((t) => t.key === state.tab) || tabs[0];
  state.tab = tab.key;
  hideTooltip();
  forgetSurfaces();
  const bar = document.getElementById("tabs");
  bar.replaceChildren(...tabs.map(tabButton));
  showEdges();
  const main = document.getElementById("main");
  main.setAttribute("aria-labelledby", `tab-${tab.key}`);
  main.replaceChildren(...tab.draw().flat().filter(Boolean));
  document.getElementById("trace").value = String(state.trace);
  const own = document.getElementById(`tab-${tab.key}`);
  own.scrollIntoView({ block: "nearest", inline: "nearest" });
}

// Some browsers have no storage for pages that are opened from a file.
function remembered() {
  try {
    return localStorage.getItem("tracesql-theme");
  } catch {
    return null;
  }
}

function setTheme(theme, isKept) {
  document.documentElement.setAttribute("data-theme", theme);
  document.getElementById("theme").textContent = theme === "dark" ? "Light" : "Dark";
  redrawSurfaces();
  if (!isKept) return;
  try {
    localStorage.setItem("tracesql-theme", theme);
  } catch {
    // The choice lasts as long as the page.
  }
}

function startTheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const ofSystem = () => (dark.matches ? "dark" : "light");
  setTheme(remembered() || ofSystem(), false);
  dark.addEventListener("change", () => {
    if (!remembered()) setTheme(ofSystem(), false);
  });
  document.getElementById("theme").addEventListener("click", () => {
    const isDark = document.documentElement.getAttribute("data-theme") === "dark";
    setTheme(isDark ? "light" : "dark", true);
  });
}

function footer() {
  const left = DATA.traces_left_out.length;
  const are = left === 1 ? "is" : "are";
  const note = left ? ` ${many(left, "trace")} of the store ${are} left out, see Provenance.` : "";
  return (
    `tracesql ${DATA.tracesql_version}. Every table has its query; exact values are in tooltips ` +
    `and CSV.${note}`
  );
}

function start() {
  startTheme();
  onNavigate(draw);
  followAddress();
  const choice = document.getElementById("trace");
  choice.append(...TRACES.map((t, i) => el("option", { value: i }, traceName(t))));
  choice.value = String(state.trace);
  choice.addEventListener("change", () => {
    state.trace = Number(choice.value);
    openTab(state.tab);
  });
  document.getElementById("trace-choice").hidden = TRACES.length < 2;

  const title = TRACES.length === 1 ? traceName(TRACES[0]) : `${TRACES.length} traces`;
  document.title = `${title} · tracesql`;
  document.getElementById("footer").textContent = footer();
  if (TRACES.length) draw();
  else {
    const empty = el("p", { class: "notice" }, "The store holds no trace.");
    document.getElementById("main").append(empty);
  }
}

start();
