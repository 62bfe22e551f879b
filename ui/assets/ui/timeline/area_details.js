// What the drawer shows of a selected area: sums by name and by track, and the steps in it.
import { el } from "../../web/base/elements.js";
import { grouped, many, ns } from "../../web/base/format.js";
import { fullLabel } from "./model.js";
import { simpleTable } from "./simple_table.js";

const UNITS = { name: "text", cat: "text", calls: "count" };

/**
 * Contents for an area; `answer` is that of POST /api/area, and `find(name)` searches for a name.
 */
export function areaDetails(tl, area, answer, find) {
  const byName = answer.by_name || { columns: [], rows: [] };
  const columns = byName.columns.map((column) => {
    const name = typeof column === "string" ? column : column.name;
    return { name, unit: UNITS[name] || "ns" };
  });
  const note = byName.truncated
    ? "Not all names are listed; the SQL gives all."
    : "A click finds the name.";
  const at = columns.findIndex((column) => column.name === "name");
  const pick = (row) => find(row[at]);
  const length = area.end - area.start;
  const { left } = area;
  return el(
    "div",
    { class: "tl-details" },
    el(
      "p",
      { class: "tl-wide quiet" },
      `${ns(length)} (${grouped(length)} ns) on ${many(area.keys.length, "track")}`,
      stepsText(answer.steps),
      ". An event counts with the part that lies in the area; its own time (self) only if all of " +
        "it does. Marks count as calls without a time.",
      left ? ` ${many(left, "more track")} are left out: the sums are of at most 500.` : "",
    ),
    simpleTable({
      caption: "By name",
      columns,
      rows: byName.rows,
      file: "area_by_name.csv",
      note,
      pick,
    }),
    trackTable(tl, answer.by_track || []),
  );
}

function stepsText(steps) {
  if (!steps || !steps.length) return "";
  const numbers = [...new Set(steps.map((s) => s.step))];
  if (numbers.length === 1) return `, in step ${numbers[0]}`;
  const last = numbers[numbers.length - 1];
  return `, in ${many(numbers.length, "step")}, from ${numbers[0]} to ${last}`;
}

// Tracks of several ranks often have the same name.
function nameOf(model, key) {
  const track = model.tracks.get(key);
  return track ? fullLabel(model, track) : key;
}

function trackTable(tl, byTrack) {
  const rows = byTrack.map((t) => [
    nameOf(tl.model, t.key),
    t.busy_ns,
    t.idle_ns,
    t.span_ns ? (100 * Number(t.busy_ns)) / Number(t.span_ns) : null,
    t.events,
  ]);
  const columns = [
    { name: "track", unit: "text" },
    { name: "busy_ns", unit: "ns" },
    { name: "idle_ns", unit: "ns" },
    { name: "busy_pct", unit: "pct", title: "Busy %" },
    { name: "events", unit: "count" },
  ];
  return simpleTable({ caption: "By track", columns, rows, file: "area_by_track.csv" });
}
