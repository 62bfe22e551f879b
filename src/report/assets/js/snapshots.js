// PyTorch memory snapshots: why memory ran out, memory over time, and what was live at the peak.
import { memoryLines } from "./charts.js";
import { missing, rows, section } from "./data.js";
import { flameGraph } from "./flame.js";
import { highest, points } from "./memory.js";
import { notice, panel, panelOr } from "./panels.js";
import { tableOf } from "./table.js";

export function snapshotTab() {
  return [
    panelOr("snapshot_ooms", () => tableOf("snapshot_ooms")),
    panelOr("snapshot_devices", () => tableOf("snapshot_devices")),
    ...snapshotCurves(),
    panelOr("snapshot_at_peak", () => tableOf("snapshot_at_peak")),
    panelOr("snapshot_flame", () => flameGraph("snapshot_flame")),
    panelOr("snapshot_categories", () => tableOf("snapshot_categories")),
    panelOr("snapshot_pools", () => tableOf("snapshot_pools")),
  ];
}

function snapshotCurves() {
  const why = missing("snapshot_curve");
  if (why) return [why.status === "not_applicable" ? null : panel("snapshot_curve", notice(why))];
  const all = rows("snapshot_curve");
  return [...new Set(all.map((r) => r.device))].map((device) => {
    const list = all.filter((r) => r.device === device);
    const reserved = points(list, "reserved_bytes");
    const lines = [
      { name: "live", tint: "compute", points: points(list, "allocated_bytes") },
      { name: "reserved by the allocator", tint: "comm", isDashed: true, points: reserved },
    ];
    const end = rows("traces")[0].duration_ns;
    const box = panel("snapshot_curve", memoryLines(lines, end, highest(list)));
    const title = section("snapshot_curve").title;
    box.querySelector("h2").textContent = `${title}: ${device < 0 ? "host" : `device ${device}`}`;
    return box;
  });
}
