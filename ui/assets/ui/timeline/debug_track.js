// A query as tracks: rows with ts_ns and dur_ns or end_ns become events, rows with ts_ns and value
// become a counter. Such tracks live in the page only.
import { firstAbove } from "./blocks.js";
import { localCounter, localSlices } from "./local_blocks.js";

const MAX_ROWS = 10_000;
/** Values are looked for in these columns. */
const VALUES = ["value"];

/**
 * Runs `sql` and gives { tracks, problem, note }: tracks to add to the model, or what is missing.
 * Times of rows are absolute; the origin of the trace that a row names, else of the only trace, is
 * taken off.
 */
export async function debugTracks(model, ask, sql) {
  const body = { id: "timeline-track", sql, parameters: {}, max_rows: MAX_ROWS };
  const answer = await ask("/api/query", body);
  const names = answer.columns.map((c) => (typeof c === "string" ? c : c.name));
  const at = (name) => names.indexOf(name);
  const ts = [at("ts_ns"), at("start_ns"), at("ts")].find((i) => i >= 0);
  const value = VALUES.map(at).find((i) => i >= 0);
  const hasLength = at("dur_ns") >= 0 || at("end_ns") >= 0;
  if (ts === undefined || (!hasLength && value === undefined))
    return { tracks: [], problem: "A track needs ts_ns, and dur_ns, end_ns or value." };

  const groups = new Map();
  let left = 0;
  answer.rows.forEach((row, index) => {
    const placed = placeOf(model, names, row, ts);
    if (!placed) {
      left += 1;
      return;
    }
    const group = at("track") >= 0 ? String(row[at("track")] ?? "none") : "Query";
    if (!groups.has(group)) groups.set(group, []);
    groups.get(group).push({ ...placed, index, row });
  });
  const isEvents = hasLength;
  const make = isEvents ? eventTrack : counterTrack;
  const tracks = [...groups].map(([name, rows], i) => make(i, name, rows, names, value));
  const cut = answer.truncated ? `The first ${MAX_ROWS} rows are shown. ` : "";
  const lost = left ? `${left} rows have no time, or do not say of which trace they are.` : "";
  return { tracks, problem: null, note: cut + lost };
}

// The row in time of the timeline. Absolute times can be beyond what a double holds.
function placeOf(model, names, row, ts) {
  const of = (name) => (names.includes(name) ? row[names.indexOf(name)] : null);
  const traceId = of("trace_id");
  const found =
    traceId === null ? model.traces : model.traces.filter((t) => t.trace_id === traceId);
  const known = found.filter((t) => !t.isLocal);
  if (known.length !== 1 || row[ts] === null) return null;
  const [{ index: trace, shift }] = known;
  try {
    const start = Number(BigInt(row[ts]) - shift);
    const end =
      of("dur_ns") !== null
        ? start + Number(of("dur_ns"))
        : of("end_ns") !== null
          ? Number(BigInt(of("end_ns")) - shift)
          : start;
    return { trace, start, end: Math.max(start, end) };
  } catch {
    return null;
  }
}

function base(number, name, rows, columns) {
  const label = `Query: ${name}`;
  return {
    key: `sql:${number}`,
    isLocal: true,
    trace: rows[0].trace,
    track_id: null,
    kind: "other",
    name: label,
    process: "Query",
    pid: null,
    tid: null,
    busy_ns: 0,
    columns,
    rows,
  };
}

function eventTrack(number, name, rows, columns) {
  const nameAt = columns.indexOf("name");
  const events = rows
    .map((r) => ({ ...r, name: nameAt >= 0 ? String(r.row[nameAt] ?? "no name") : name }))
    .sort((a, b) => a.start - b.start || b.end - a.end);
  const lanes = [];
  const instants = [];
  for (const event of events) {
    if (event.end === event.start) {
      instants.push(event);
      continue;
    }
    const lane = lanes.findIndex((list) => list[list.length - 1].end <= event.start);
    if (lane >= 0) lanes[lane].push(event);
    else lanes.push([event]);
  }
  const counts = { lanes: lanes.length, events: events.length, instants: instants.length };
  const block = (range) => localSlices(lanes, instants, range);
  return { ...base(number, name, rows, columns), ...counts, block };
}

function counterTrack(number, name, rows, columns, value) {
  const points = rows
    .map((r) => ({ at: r.start, value: Number(r.row[value]) }))
    .filter((p) => Number.isFinite(p.value))
    .sort((a, b) => a.at - b.at);
  const times = points.map((p) => p.at);
  const block = (range) =>
    localCounter(
      name,
      points,
      Math.max(0, firstAbove(times, range.from, 0, times.length) - 1),
      range,
    );
  const about = { kind: "counter", lanes: 0, events: points.length, instants: 0 };
  return { ...base(number, name, rows, columns), ...about, block };
}
