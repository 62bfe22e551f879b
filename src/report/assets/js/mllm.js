// MLLM's perf.json: memory over time, blobs and operations in lanes.
import { el } from "../../../../web/base/elements.js";
import { bytes, exact, grouped, ns, words } from "../../../../web/base/format.js";
import { memoryLines } from "./charts.js";
import { rest, section } from "./data.js";
import { highest, points } from "./memory.js";
import { folded, panelOr } from "./panels.js";
import { tableOf } from "./table.js";

const LANE = 15;

export function mllmTab() {
  return [
    panelOr("mllm_summary", () => tableOf("mllm_summary")),
    panelOr("mllm_memory_curve", mllmCurve),
    panelOr("mllm_blobs", (list) => [
      lanes(
        list,
        {
          end: (r) => r.at_ns + r.lifetime_ns,
          text: (r) => `${r.device_name || ""} ${bytes(r.bytes)}`.trim(),
          tint: (r) => (r.is_at_peak ? "data" : "compute"),
          note: "Red blobs were alive at the peak.",
        },
        "mllm_blobs",
      ),
      folded("Figures", tableOf("mllm_blobs")),
    ]),
    panelOr("mllm_operations", (list) => [
      lanes(
        list,
        { end: (r) => r.at_ns + r.duration_ns, text: (r) => r.name, tint: () => "host" },
        "mllm_operations",
      ),
      folded("Figures", tableOf("mllm_operations")),
    ]),
    panelOr("mllm_operation_totals", () => tableOf("mllm_operation_totals")),
  ];
}

function mllmCurve(list) {
  const tints = ["compute", "comm", "copy", "host"];
  const names = [...new Set(list.map((r) => r.device_name))];
  const ofDevice = (name) => list.filter((r) => r.device_name === name);
  const lines = names.map((name, i) => ({
    name: name || "device",
    tint: tints[i % tints.length],
    points: points(ofDevice(name), "allocated_bytes"),
  }));
  return memoryLines(lines, undefined, highest(ofDevice(names[0])));
}

// Bars in lanes along time.
function lanes(list, { end, text, tint, note }, key) {
  const last = list.reduce((most, r) => Math.max(most, end(r)), 1);
  const most = list.reduce((lane, r) => Math.max(lane, r.lane), 0);
  const columns = section(key).columns.slice(1);
  const box = el(
    "div",
    { class: "flame" },
    list.map((r) =>
      el(
        "button",
        {
          type: "button",
          tabindex: "-1",
          left: `${(100 * r.at_ns) / last}%`,
          width: `${Math.max((100 * (end(r) - r.at_ns)) / last, 0.08)}%`,
          top: `${r.lane * LANE}px`,
          height: `${LANE - 1}px`,
          background: `color-mix(in srgb, var(--${tint(r)}) 60%, #fff)`,
          title: columns
            .map((c) => `${words(c.name)}: ${exact(r[c.name], c.unit)}`)
            .join("\n")
            .slice(0, 900),
          class: (end(r) - r.at_ns) / last > 0.01 ? undefined : "thin",
        },
        (end(r) - r.at_ns) / last > 0.05 ? text(r).slice(0, 100) : "",
      ),
    ),
  );
  box.classList.add("lanes");
  box.style.height = `${(most + 1) * LANE}px`;
  const left = rest(key);
  const small = left ? ` ${grouped(left.rows)} smaller ones are not drawn.` : "";
  return [
    el("div", { class: "lanes-scroll" }, box),
    el("p", { class: "quiet small" }, `0 to ${ns(last)} after the start. ${note || ""}${small}`),
  ];
}
