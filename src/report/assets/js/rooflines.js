// The roofline of each device: operators by intensity and rate, under the peaks of the device.
import { el } from "../../../../web/base/elements.js";
import { digits, ns, pct } from "../../../../web/base/format.js";
import { logPoints } from "../../../../web/charts/log_points.js";
import { tooltipContent } from "../../../../web/charts/tooltip.js";
import { classPaint, classRank, classTint } from "./class_colours.js";
import { rows } from "./data.js";
import { tableOf } from "./table.js";

export function rooflines() {
  const all = [...rows("roofline_points"), ...rows("bandwidth_points")];
  const devices = [...new Set(all.map((row) => row.device))];
  const of = (key, device) => rows(key).filter((row) => row.device === device);
  return [
    ...devices.map((device) =>
      picture(
        [...of("roofline_points", device), ...of("bandwidth_points", device)],
        of("roofline_roofs", device),
        device,
      ),
    ),
    tableOf("roofline", {
      only: [
        "name",
        "input_shapes",
        "lost_ns",
        "roofline_pct",
        "cause",
        "figure",
        "device_ns",
        "device_pct",
        "calls",
        "bound",
        "dtype",
        "tflop_s",
        "gb_s",
        "further_causes",
      ],
      sort: ["lost_ns", true],
    }),
  ];
}

function picture(points, roofs, device) {
  const known = [...points].sort((a, b) => b.device_ns - a.device_ns);
  const moving = known.find(movesOnly);
  const families = [...new Set(known.map((row) => row.family))].sort(
    (a, b) => classRank(a) - classRank(b),
  );
  const longest = known[0].device_ns;
  const chart = logPoints({
    series: families.map((name) => ({ name, tint: classTint(name), paint: classPaint(name) })),
    points: known.map((row) => ({
      series: families.indexOf(row.family),
      ...(movesOnly(row) ? { y: row.gb_s } : { x: row.flop_per_byte, y: row.tflop_s }),
      area: row.device_ns / longest,
      isHollow: !row.is_exact,
    })),
    strip: moving && {
      top: moving.bandwidth_gb_s,
      name: "bytes only",
      label: (value) => `${short(value)} GB/s`,
    },
    roofs: different(roofs).map((row) => ({
      name: `${row.dtype} ${digits(row.peak_tflop_s)} TFLOP/s`,
      slope: row.bandwidth_gb_s / 1000,
      top: row.peak_tflop_s,
    })),
    describe: (i) => tooltipOf(known[i]),
    xLabel: (value) => `${short(value)} FLOP/B`,
    yLabel: (value) => `${short(value)} TFLOP/s`,
    label: "operators by operations per byte and operations per second, under the peaks",
  });
  const name = device === null ? "" : `Device ${device}: `;
  const modelled = roofs.length ? roofs[0].modelled_pct : null;
  const coverage = modelled === null ? "" : ` Models cover ${pct(modelled)} of its device time.`;
  return el(
    "div",
    {},
    el(
      "p",
      { class: "small" },
      `${name}operations per second by operations per byte, both logarithmic. A circle is an ` +
        "operator with its shapes, as large as its device time, and pale if its figures are not " +
        "exact; dotted lines are ridges." +
        (moving
          ? " The strip on the left has operators that compute nothing or whose operations are " +
            "not known, by bytes per second, under the bandwidth of the memory."
          : "") +
        coverage,
    ),
    chart,
  );
}

// Rows of bandwidth_points, which have no operations.
const movesOnly = (row) => row.flop_per_byte === undefined;

// Both units of a device may have the same peak for a type; one line stands for both.
function different(roofs) {
  return [...new Map(roofs.map((row) => [`${row.dtype} ${row.peak_tflop_s}`, row])).values()];
}

function tooltipOf(row) {
  const lines = [
    [classTint(row.family), "device time", `${ns(row.device_ns)} · ${pct(row.device_pct)}`],
    [null, "rate", rateOf(row)],
    [null, "of the roofline", `${pct(row.roofline_pct)} (${row.bound ?? "memory"})`],
  ];
  if (row.cause) lines.push([null, row.cause, row.figure]);
  return tooltipContent(`${row.name} ${row.input_shapes.slice(0, 60)}`, lines);
}

function rateOf(row) {
  const bytes = `${digits(row.gb_s)} GB/s`;
  return movesOnly(row) ? bytes : `${digits(row.tflop_s)} TFLOP/s · ${bytes}`;
}

const short = (value) => (value >= 1e-3 && value < 1e5 ? String(value) : value.toExponential(0));
