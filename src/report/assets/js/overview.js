// The first tab: the main figures, where the time goes, findings.
import { el } from "../../../../web/base/elements.js";
import { exact, grouped, human, many, ns } from "../../../../web/base/format.js";
import { cards } from "./cards.js";
import { classPaint } from "./class_colours.js";
import { classBar, unclassifiedNote } from "./classes.js";
import { TRACES, deviceName, missing, rows, section, state, traceName } from "./data.js";
import { findingBox } from "./findings.js";
import { cardRows, masonry } from "./layout.js";
import { fitted, shortName } from "./names.js";
import { openTab } from "./navigation.js";
import { notice, panel } from "./panels.js";
import { DEVICE_PARTS, STEP_PARTS } from "./parts.js";
import { stackBar } from "./share_bar.js";
import { tableOf } from "./table.js";

/** Panels of the first tab are at least this wide where the window allows it, in pixels. */
const MIN_PANEL = 520;

export function overviewTab() {
  const trace = TRACES[state.trace];
  const [facts] = rows("overview");
  const [input] = rows("traces");
  return [
    el(
      "div",
      { class: "title-line" },
      el("h2", {}, breakable(traceName(trace))),
      el(
        "span",
        { class: "quiet small" },
        [
          trace.format,
          facts && facts.device_names,
          input && input.backend,
          input && input.host,
          input && !input.skipped_count && `all ${many(input.element_count, "element")} were read`,
        ]
          .filter(Boolean)
          .join(" · "),
      ),
    ),
    cardRows(cards(facts, input)),
    masonry(
      [
        timePanel(),
        findingsPanel(),
        topPanel(
          "operators",
          "host_self_ns",
          "host_self_pct",
          "of host self time",
          "Operators by host time",
        ),
        rows("device_time").length
          ? topPanel(
              "operators",
              "device_self_ns",
              "device_self_pct",
              "of device time",
              "Operators by device time",
            )
          : null,
        topPanel("kernels", "total_ns", "total_pct", "of the kernel time of the device"),
        topPanel("mllm_operation_totals", "total_ns", "total_pct", "of all"),
        topPanelOf("categories"),
      ].filter(Boolean),
      MIN_PANEL,
    ),
  ];
}

// A text that may be broken after the signs that file names are made of, and nowhere else.
function breakable(text) {
  const parts = text.split(/(?<=[-_./@])/);
  return parts.flatMap((part, i) => [i ? el("wbr") : null, part]);
}

function timePanel() {
  const bars = [];
  for (const device of rows("device_time")) {
    bars.push(
      stackBar(
        `${deviceName(device)}: ${ns(device.total_time_ns)} from first to last activity`,
        DEVICE_PARTS.map(([name, label, tint]) => [label, device[name], `var(--${tint})`]),
        device.total_time_ns,
        "ns",
      ),
    );
  }
  // Below many devices it would be out of sight.
  if (bars.length > 4) bars.unshift(classBar(), unclassifiedNote());
  else bars.push(unclassifiedNote(), classBar());
  const steps = rows("steps");
  if (steps.length) {
    const sum = (name) => steps.reduce((all, r) => all + r[name], 0);
    const count = sum("steps");
    const what =
      steps[0].first_step === null
        ? `the whole trace: ${ns(sum("total_ns"))}`
        : `${grouped(count)} step${count === 1 ? "" : "s"}: ${ns(sum("total_ns"))}`;
    bars.push(
      stackBar(
        `Host and device together, ${what}`,
        STEP_PARTS.map(([name, label, tint]) => [label, sum(name), `var(--${tint})`]),
        sum("total_ns"),
        "ns",
      ),
    );
  }
  if (rows("device_time").length && steps.length) bars.push(differenceNote());
  const modelled = rows("mllm_operation_totals");
  if (modelled.length) {
    const total = modelled.reduce((all, r) => all + (r.total_ns || 0), 0);
    const tints = ["compute", "comm", "host", "copy", "runtime", "data", "fill"];
    const first = modelled.slice(0, 7);
    const other = total - first.reduce((all, r) => all + (r.total_ns || 0), 0);
    bars.push(
      stackBar(
        `Operations: ${ns(total)}`,
        [
          ...first.map((r, i) => [r.name, r.total_ns || 0, `var(--${tints[i]})`]),
          ["other", other, "var(--idle)"],
        ],
        total,
        "ns",
      ),
    );
  }
  if (!bars.some(Boolean)) bars.push(notice(missing("steps") || { reason: "no time to divide" }));
  return el(
    "section",
    { class: "panel" },
    el("header", {}, el("h2", {}, "Where the time goes")),
    el("div", { class: "bars" }, bars.filter(Boolean)),
  );
}

// How the bars of devices and the bar of steps differ.
function differenceNote() {
  return el(
    "p",
    { class: "small quiet" },
    "A bar of a device divides the time between its first and its last activity, so the host " +
      "appears there as idle time of the device. The bar of host and device divides the time of " +
      "the steps: a moment counts for the device if the device works, and else for the host.",
  );
}

function findingsPanel() {
  const why = missing("findings");
  const found = rows("findings").filter((f) => f.status === "finding");
  const content = why
    ? [notice(why)]
    : found.length
      ? found.slice(0, 4).map((f) => findingBox(f, true))
      : [el("p", { class: "quiet" }, "No rule has a finding.")];
  const measured =
    rows("findings").length - rows("findings").filter((f) => f.status === "not_measurable").length;
  return el(
    "section",
    { class: "panel" },
    el(
      "header",
      {},
      el("h2", {}, "Findings"),
      why
        ? null
        : el(
            "button",
            { type: "button", class: "more", onclick: () => openTab("findings") },
            found.length > 4 ? `All ${found.length} →` : "Details →",
          ),
      why
        ? null
        : el(
            "p",
            { class: "small" },
            `${found.length} found in ${many(measured, "check")} that could be measured.`,
          ),
    ),
    content,
  );
}

// The first rows of a section, with a bar for the share of each.
function topPanel(key, value, share, whole, title) {
  const list = rows(key)
    .filter((r) => r[value] > 0)
    .sort((a, b) => b[value] - a[value])
    .slice(0, 8);
  if (!list.length) return null;
  const tab = key === "mllm_operation_totals" ? "mllm" : key;
  const labelOf = (r) => (key === "kernels" ? shortName(r.name) : r.name).slice(0, 2000);
  const titleOf = (r) => {
    const what = key === "kernels" ? `, ${r.class}` : "";
    return `${r.name.slice(0, 500)}\n${exact(r[value], "ns")}, ${many(r.calls, "call")}${what}`;
  };
  const bar = (r) => ({
    width: `${Math.min(r[share] || 0, 100)}%`,
    background: key === "kernels" ? classPaint(r.class) : undefined,
  });
  const line = (r) =>
    el(
      "div",
      { class: "item", title: titleOf(r) },
      el("span", { class: "mono" }, fitted(labelOf(r))),
      el("span", {}, `${ns(r[value])} · ${human(r[share], "pct")}`),
      el("i", {}, el("b", bar(r))),
    );
  return el(
    "section",
    { class: "panel" },
    el(
      "header",
      {},
      el("h2", {}, title || section(key).title),
      el("button", { type: "button", class: "more", onclick: () => openTab(tab) }, "All →"),
    ),
    el(
      "div",
      { class: "toplist" },
      list.map(line),
      el("p", { class: "quiet small" }, `Shares are ${whole}.`),
    ),
  );
}

// Traces that are not from PyTorch only have categories.
function topPanelOf(key) {
  if (rows("operators").length || rows("mllm_operation_totals").length || missing(key)) return null;
  const only = ["name", "events", "total_ns", "self_ns", "self_pct"];
  return panel(key, tableOf(key, { only }));
}
