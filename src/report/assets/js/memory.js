// Memory over time, its peaks, and what held the memory at the peak.
import { memoryLines } from "./charts.js";
import { deviceName, missing, rows, section } from "./data.js";
import { notice, panel, panelOr } from "./panels.js";
import { tableOf } from "./table.js";

export function memoryTab() {
  return [
    ...curves(),
    panelOr("memory_peaks", () => tableOf("memory_peaks")),
    panelOr("memory_at_peak", () =>
      tableOf("memory_at_peak", {
        only: [
          "device_type",
          "device",
          "kind",
          "op_name",
          "module_path",
          "step",
          "allocations",
          "bytes",
          "share_pct",
        ],
      }),
    ),
  ];
}

function curves() {
  const why = missing("memory_curve");
  if (why) return [why.status === "not_applicable" ? null : panel("memory_curve", notice(why))];
  const all = rows("memory_curve");
  const ofDevice = (name) => all.filter((r) => deviceName(r) === name);
  const devices = [...new Set(all.map(deviceName))].map((name) => [name, ofDevice(name)]);
  const peak = ([, list]) => highest(list).peak_allocated_bytes;
  devices.sort((a, b) => peak(b) - peak(a));
  return devices.map(([name, list]) => curve(name, list));
}

function curve(name, list) {
  const lines = [{ name: "allocated", tint: "compute", points: points(list, "allocated_bytes") }];
  if (list.some((r) => r.peak_reserved_bytes > 0)) {
    const reserved = points(list, "reserved_bytes");
    const title = "reserved by the allocator";
    lines.push({ name: title, tint: "comm", isDashed: true, points: reserved });
  }
  const end = rows("traces")[0].duration_ns;
  const box = panel("memory_curve", memoryLines(lines, end, highest(list)));
  box.querySelector("h2").textContent = `${section("memory_curve").title}: ${name}`;
  return box;
}

// The row with the highest value.
export function highest(list) {
  return list.reduce((a, b) => (b.peak_allocated_bytes > a.peak_allocated_bytes ? b : a));
}

// The highest and the last value of each stretch of time, in the order of time.
export function points(list, what) {
  return list
    .flatMap((r) => {
      const peak = [r.peak_at_ns, r[`peak_${what}`]];
      const last = [r.last_at_ns, r[`last_${what}`]];
      return peak[0] === last[0] ? [last] : [peak, last];
    })
    .filter(([, value]) => value !== null && value !== undefined);
}
