// The ranks of a job next to each other.
import { el } from "../../../../web/base/elements.js";
import { exact, ns, pct } from "../../../../web/base/format.js";
import { heatMap } from "../../../../web/charts/heat_map.js";
import { lyingBars } from "../../../../web/charts/lying_bars.js";
import { timeTicks } from "../../../../web/charts/ticks.js";
import { tooltipContent } from "../../../../web/charts/tooltip.js";
import { seriesOf } from "./charts.js";
import { TRACES, allRows, deviceName, missing, rows, section } from "./data.js";
import { blamePanels } from "./rank_lost_time.js";
import { notice, panel, queryOf } from "./panels.js";
import { tableOf } from "./table.js";

const RANK_PARTS = [
  ["computation_ns", "computation", "compute"],
  ["exposed_communication_ns", "exposed communication", "comm"],
  ["overlap_ns", "communication behind computation", "runtime"],
];

const WAIT_PARTS = [
  ["transfer_ns", "exchange", "comm"],
  ["wait_ns", "waiting for others", "data"],
];

export function ranksTab() {
  const job = allRows("ranks");
  const waits = allRows("stragglers");
  const table = (key) => el("div", {}, tableOf(key, { rows: allRows(key) }));
  const why = (key) => notice(missing(key) || { reason: "no rows" });
  const label = "computation and communication of each rank";
  const waitLabel = "time of each rank in collectives";
  return [
    ...blamePanels(),
    job.length
      ? panel("ranks", rankBars(job, RANK_PARTS, label), table("ranks"))
      : panel("ranks", why("ranks")),
    busyMap(),
    waits.length
      ? panel("stragglers", rankBars(waits, WAIT_PARTS, waitLabel), table("stragglers"))
      : panel("stragglers", why("stragglers")),
    allRows("collectives").length ? panel("collectives", table("collectives")) : null,
  ];
}

function rankLabel(r) {
  return r.rank === null ? "rank ?" : `rank ${r.rank}`;
}

// The bars of ranks below each other.
function rankBars(list, parts, label) {
  const isRepeated = (rank) => list.filter((r) => r.rank === rank).length > 1;
  const name = (r) =>
    isRepeated(r.rank) && r.place ? `${rankLabel(r)}, ${r.place}` : rankLabel(r);
  const describe = (i, inSight) =>
    tooltipContent(
      rankLabel(list[i]),
      inSight.map((s) => {
        const [column, text, tint] = parts[s];
        return [tint, text, exact(list[i][column], "ns")];
      }),
    );
  return lyingBars({
    names: list.map(name),
    series: seriesOf(parts, list),
    ticks: timeTicks,
    describe,
    label,
  });
}

// How busy the devices of all ranks are over time, as a heat map.
function busyMap() {
  const lines = TRACES.flatMap((trace, at) => {
    const list = rows("device_timeline", at);
    const devices = [...new Set(list.map((r) => r.device))];
    return devices.map((device) => {
      const of = rankLabel(trace);
      const name = devices.length > 1 ? `${of}, ${deviceName({ device })}` : of;
      return { name, list: list.filter((r) => r.device === device) };
    });
  }).filter(({ list }) => list.length > 0);
  if (lines.length < 2) return null;
  const end = Math.max(...lines.map(({ list }) => Math.max(...list.map(endOf))));
  const columns = 4 * Math.max(...lines.map(({ list }) => list.length));
  const parts = lines.map(({ list }) => partsOf(list, columns, end));
  const describe = (row, column) => {
    const { name, list } = lines[row];
    const r = list[parts[row].at[column]];
    if (!r) return tooltipContent(name, [[null, "no work recorded", ""]]);
    const when = `${ns(r.at_ns)} to ${ns(endOf(r))} after the start`;
    return tooltipContent(`${name}, ${when}`, [
      ["compute", "busy", pct((100 * r.busy_time_ns) / r.length_ns)],
      [null, "exact", exact(r.busy_time_ns, "ns")],
    ]);
  };
  const map = heatMap({
    names: lines.map((l) => l.name),
    columns,
    values: parts.map((p) => p.values),
    tint: "compute",
    end,
    ticks: timeTicks,
    describe,
    extent: (row, column) => sameStretch(parts[row].at, column),
    label: "how busy the devices of all ranks are over time",
  });
  const { sql } = section("device_timeline");
  return el(
    "section",
    { class: "panel", id: "panel-busy_devices" },
    el("header", {}, el("h2", {}, "Busy devices"), queryOf(sql), el("p", { class: "small" }, BUSY)),
    map,
  );
}

const BUSY =
  "How busy each device was over time: the stronger the colour, the busier. Times count from " +
  "the start of each trace.";

const endOf = (row) => row.at_ns + row.length_ns;

// Stretches of one device as columns of equal width: for the middle of each column the number of
// the stretch, and how busy the device was.
function partsOf(list, columns, end) {
  const at = new Int32Array(columns).fill(-1);
  const values = new Float64Array(columns).fill(NaN);
  for (let column = 0, i = 0; column < columns; column += 1) {
    const time = ((column + 0.5) * end) / columns;
    while (i < list.length - 1 && endOf(list[i]) <= time) i += 1;
    if (time < list[i].at_ns || time >= endOf(list[i])) continue;
    at[column] = i;
    values[column] = list[i].busy_time_ns / list[i].length_ns;
  }
  return { at, values };
}

// The first and the last column of the stretch that a column belongs to.
function sameStretch(at, column) {
  let [first, last] = [column, column];
  while (at[first - 1] === at[column]) first -= 1;
  while (at[last + 1] === at[column]) last += 1;
  return [first, last];
}
