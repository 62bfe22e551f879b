// Steps and devices over time, operators and kernels.
import { grouped, ns } from "../../../../web/base/format.js";
import { partBars, shareBars } from "./charts.js";
import { deviceClasses, stepClasses } from "./classes.js";
import { deviceName, missing, rows, section } from "./data.js";
import { shortName } from "./names.js";
import { folded, panel, panelOr } from "./panels.js";
import { DEVICE_PARTS, STEP_PARTS } from "./parts.js";
import { rooflines } from "./rooflines.js";
import { ofKernel, ofOperator } from "./relations.js";
import { tableOf } from "./table.js";

export function timeTab() {
  return [
    panelOr("steps", (list) => [
      partBars(
        list.map((row) => ({ name: barName(row), title: barLabel(row), row })),
        STEP_PARTS,
        "total_ns",
        "time of each step by what it went to",
      ),
      folded(
        "Figures",
        tableOf("steps", {
          only: [
            "first_step",
            "last_step",
            "steps",
            "at_ns",
            "total_ns",
            ...STEP_PARTS.map((p) => p[0]),
          ],
        }),
      ),
    ]),
    panelOr("device_classes", deviceClasses),
    missing("device_classes_by_step") ? null : panelOr("device_classes_by_step", stepClasses),
    ...deviceTimelines(),
    panelOr("device_time", () =>
      tableOf("device_time", {
        only: [
          "device",
          "gpu_events",
          "linked_events",
          "total_time_ns",
          "computation_time_ns",
          "computation_pct",
          "exposed_comm_time_ns",
          "exposed_comm_pct",
          "exposed_memcpy_time_ns",
          "idle_time_ns",
          "idle_pct",
          ...(rows("device_time").some((d) => d.unclassified_time_ns > 0)
            ? ["unclassified_time_ns", "exposed_comm_max_ns"]
            : []),
        ],
        titles: {
          unclassified_time_ns: "Unclassified computation",
          exposed_comm_max_ns: "Exposed comm, at most",
        },
      }),
    ),
    panelOr("devices", () => tableOf("devices")),
    panelOr("categories", () => tableOf("categories")),
  ];
}

function barName(row) {
  if (row.first_step === null) return "trace";
  return row.first_step === row.last_step
    ? String(row.first_step)
    : `${row.first_step}–${row.last_step}`;
}

function barLabel(row) {
  if (row.first_step === null) return "the whole trace (no steps were recorded)";
  return row.steps === 1
    ? `step ${row.first_step}`
    : `steps ${row.first_step} to ${row.last_step} (${grouped(row.steps)} together)`;
}

function deviceTimelines() {
  if (missing("device_timeline")) return [];
  const all = rows("device_timeline");
  return [...new Set(all.map((r) => r.device))].map((device) => {
    const list = all.filter((r) => r.device === device);
    const bars = list.map((row) => ({ name: ns(row.at_ns), title: stretchOf(row), row }));
    const label = "shares of the time of the device by what it did, in percent";
    const box = panel("device_timeline", shareBars(bars, DEVICE_PARTS, "length_ns", label));
    box.querySelector("h2").textContent =
      `${section("device_timeline").title}: ${deviceName({ device })}`;
    return box;
  });
}

// The start and the end of a row of the timeline.
function stretchOf(row) {
  return `${ns(row.at_ns)} to ${ns(row.at_ns + row.length_ns)} after the start`;
}

export function operatorsTab() {
  return [
    panelOr("operators", () =>
      tableOf("operators", {
        only: [
          "name",
          "calls",
          "host_self_ns",
          "host_self_pct",
          "host_total_ns",
          "device_self_ns",
          "device_self_pct",
          "device_total_ns",
          "tensor_core_eligible",
          "tensor_core_self_pct",
        ],
        sort: ["host_self_ns", true],
        more: ofOperator,
        isLinked: true,
      }),
    ),
  ];
}

export function kernelsTab() {
  return [
    panelOr("kernels", () =>
      tableOf("kernels", {
        sort: ["total_ns", true],
        swatch: true,
        label: shortName,
        more: ofKernel,
        isLinked: true,
      }),
    ),
    panelOr("copies", () => tableOf("copies", { swatch: true })),
    panelOr("roofline", rooflines),
    panelOr("mfu", () => tableOf("mfu")),
  ];
}
