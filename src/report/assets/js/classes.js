// Device work by class: bars of devices and steps.
import { el } from "../../../../web/base/elements.js";
import { NONE, exact, ns, pct } from "../../../../web/base/format.js";
import { partBars } from "./charts.js";
import { CLASSES, classLegend, classPaint, classRank, classTint } from "./class_colours.js";
import { deviceName, rest, rows } from "./data.js";
import { card, folded, restNotice } from "./panels.js";
import { stackBar } from "./share_bar.js";
import { dataTable, tableOf } from "./table.js";

// The sum of a column over rows of some classes.
function sumOf(list, column, holds = () => true) {
  return list.reduce((sum, r) => (holds(r.class) ? sum + Number(r[column]) : sum), 0);
}

// Time by class as parts of a bar: of one device, or added up over several.
function classParts(list) {
  const names = [...new Set(list.map((r) => r.class))].sort((a, b) => classRank(a) - classRank(b));
  return names.map((name) => [name, sumOf(list, "time_ns", (c) => c === name), classPaint(name)]);
}

function byDevice(list) {
  return [...new Set(list.map((r) => r.device))].map((device) =>
    list.filter((r) => r.device === device),
  );
}

// One bar for all devices of the trace.
export function classBar() {
  const list = rows("device_classes");
  if (!list.length) return null;
  const busy = sumOf(list, "time_ns");
  const count = byDevice(list).length;
  return stackBar(
    `By class of work: ${ns(busy)} busy${count > 1 ? ` on ${count} devices together` : ""}`,
    classParts(list),
    busy,
    "ns",
  );
}

export function deviceClasses(list) {
  const devices = byDevice(list);
  const busy = (own) => sumOf(own, "time_ns");
  const bar = (own) =>
    stackBar(
      `${deviceName(own[0])}: ${ns(busy(own))} busy`,
      classParts(own),
      busy(own),
      "ns",
      devices.length === 1,
    );
  const columns = [
    "device",
    "class",
    "activities",
    "names",
    "time_ns",
    "time_pct",
    "total_ns",
    "matrix_unit_ns",
    "matrix_unit_unclear_ns",
  ];
  return [
    el("div", { class: "cards figures" }, classCards(list)),
    devices.length > 1 ? classLegend(list) : null,
    el("div", { class: "bars" }, devices.map(bar)),
    devices.length > 1 ? deviceShares(devices) : null,
    folded(
      "Figures",
      tableOf("device_classes", {
        only: columns,
        titles: { time_pct: "Share of busy time" },
        swatch: true,
      }),
    ),
  ].filter(Boolean);
}

// The main shares, over all devices of the trace.
function classCards(list) {
  const busy = sumOf(list, "time_ns");
  const kernels = sumOf(list, "total_ns", isKernelClass);
  const one = (label, name) => {
    const time = sumOf(list, "time_ns", (c) => c === name);
    return card(
      label,
      busy ? pct((100 * time) / busy) : NONE,
      `${ns(time)} of ${ns(busy)} busy`,
      `${exact(time, "ns")} of ${exact(busy, "ns")}`,
    );
  };
  const cards = [
    one("Gemm", "gemm"),
    one("Attention", "attention"),
    one("Exposed communication", "communication"),
    one("Unclassified", "unclassified"),
  ];
  if (kernels) {
    const [yes, unclear] = [sumOf(list, "matrix_unit_ns"), sumOf(list, "matrix_unit_unclear_ns")];
    cards.push(
      card(
        "On tensor or matrix cores",
        pct((100 * yes) / kernels),
        `${ns(yes)} of ${ns(kernels)} of kernels; ` +
          `unclear ${pct((100 * unclear) / kernels)} (${ns(unclear)})`,
        `${exact(yes, "ns")} of ${exact(kernels, "ns")}, unclear ${exact(unclear, "ns")}`,
      ),
    );
  }
  return cards;
}

const isKernelClass = (name) => name !== "memcpy" && name !== "memset";

// The same shares for each device.
function deviceShares(devices) {
  const named = {
    gemm: "Gemm",
    attention: "Attention",
    communication: "Exposed communication",
    unclassified: "Unclassified",
  };
  const titles = Object.fromEntries([
    ...Object.entries(named).map(([name, title]) => [`${name}_pct`, `${title}, % of busy`]),
    ["kernels_ns", "Sum of kernels"],
    ["matrix_unit_pct", "Tensor or matrix cores, % of kernels"],
    ["unclear_pct", "Unclear, % of kernels"],
  ]);
  const columns = [
    ["device", "id"],
    ["busy_ns", "ns"],
    ...Object.keys(named).map((name) => [`${name}_pct`, "pct"]),
    ["kernels_ns", "ns"],
    ["matrix_unit_pct", "pct"],
    ["unclear_pct", "pct"],
  ].map(([name, unit]) => ({ name, unit, type: unit === "pct" ? "number" : "integer" }));
  const share = (part, whole) => (whole > 0 ? (100 * part) / whole : null);
  const lines = devices.map((own) => {
    const [busy, kernels] = [sumOf(own, "time_ns"), sumOf(own, "total_ns", isKernelClass)];
    const shares = Object.keys(named).map((name) => [
      `${name}_pct`,
      share(
        sumOf(own, "time_ns", (c) => c === name),
        busy,
      ),
    ]);
    return {
      device: own[0].device,
      busy_ns: busy,
      ...Object.fromEntries(shares),
      kernels_ns: kernels,
      matrix_unit_pct: share(sumOf(own, "matrix_unit_ns"), kernels),
      unclear_pct: share(sumOf(own, "matrix_unit_unclear_ns"), kernels),
    };
  });
  return dataTable({ columns, rows: lines, titles, file: "device_shares.csv" });
}

// A bar for each step of a device, or for neighbouring steps together.
export function stepClasses(list) {
  if (!list.some((r) => r.first_step !== null)) {
    const text = "No steps were recorded, so there is nothing to compare.";
    return el("p", { class: "notice" }, text);
  }
  const devices = byDevice(list);
  const parts = CLASSES.map((name) => [name, name, classTint(name)]);
  const box = el("div");
  const draw = (own) => {
    const label = `busy time of ${deviceName(own[0])} by class and step`;
    box.replaceChildren(partBars(stepBars(own), parts, "busy_ns", label));
  };
  const select = el(
    "select",
    { "aria-label": "Device", onchange: () => draw(devices[select.selectedIndex]) },
    devices.map((own) => el("option", {}, deviceName(own[0]))),
  );
  const left = rest("device_classes_by_step");
  const only = ["device", "first_step", "last_step", "class"];
  only.push("activities", "time_ns", "busy_ns", "total_ns");
  draw(devices[0]);
  return [
    devices.length > 1 ? el("div", { class: "tools" }, select) : null,
    box,
    left ? restNotice(left, "more row") : null,
    folded("Figures", tableOf("device_classes_by_step", { only, swatch: true })),
  ].filter(Boolean);
}

function stepBars(own) {
  return [...new Set(own.map((r) => r.bar))].map((bar) => {
    const parts = own.filter((r) => r.bar === bar);
    const { first_step, last_step, busy_ns } = parts[0];
    const steps = first_step === last_step ? String(first_step) : `${first_step}–${last_step}`;
    const row = { ...Object.fromEntries(CLASSES.map((name) => [name, 0])), busy_ns };
    for (const part of parts) row[part.class] = part.time_ns;
    const label =
      first_step === null
        ? "work launched outside of steps"
        : first_step === last_step
          ? `work launched in step ${steps}`
          : `work launched in steps ${steps}, added up`;
    return { name: first_step === null ? "no step" : steps, title: label, row };
  });
}

// What it means that some kernels have no known class.
export function unclassifiedNote() {
  const devices = rows("device_time");
  const sum = (name) => devices.reduce((all, d) => all + d[name], 0);
  const unclassified = sum("unclassified_time_ns");
  if (!(unclassified > 0)) return null;
  const [low, high] = [sum("exposed_comm_time_ns"), sum("exposed_comm_max_ns")];
  const title = `${exact(unclassified, "ns")}; ${exact(low, "ns")} to ${exact(high, "ns")}`;
  const together = devices.length > 1 ? `, on ${devices.length} devices together` : "";
  return el(
    "p",
    { class: "small", title },
    `Computation includes ${ns(unclassified)} in which kernels of no known class ran. If all of ` +
      `them were communication, exposed communication would be ${ns(high)} instead of ` +
      `${ns(low)}${together}.`,
  );
}
