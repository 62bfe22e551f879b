// The tracks of the timeline in groups: rank, process, threads and streams.
import { many } from "../../web/base/format.js";
import { visible } from "../base/text.js";

/** With more traces than this, only the first ones are unfolded at first. */
const MANY_TRACES = 16;
const UNFOLDED_TRACES = 4;

/** What the page knows of tracks; `answer` is that of GET /api/tracks. */
export function modelOf(answer) {
  const tracks = new Map(answer.tracks.map((track) => [track.key, withLabel(track)]));
  const steps = new Map();
  for (const step of answer.steps || []) {
    if (!steps.has(step.trace)) steps.set(step.trace, []);
    steps.get(step.trace).push(step);
  }
  steps.forEach((list) => list.sort((a, b) => a.start - b.start));
  const traces = answer.traces.map((trace) => ({
    ...trace,
    id: `t${trace.index}`,
    shift: BigInt(trace.shift_ns || 0),
    label: traceLabel(trace),
    processes: processesOf(trace, answer.tracks),
  }));
  return { end: answer.end, traces, tracks, steps, status: answer.status || {} };
}

function traceLabel(trace) {
  const rank = trace.rank === null || trace.rank === undefined ? "" : `Rank ${trace.rank} · `;
  return rank + visible(trace.name || trace.trace_id, 200);
}

function processesOf(trace, tracks) {
  const processes = new Map();
  for (const track of tracks.filter((t) => t.trace === trace.index)) {
    const key = `${track.pid}\n${track.process}`;
    if (!processes.has(key)) {
      const id = `t${trace.index}p${processes.size}`;
      processes.set(key, { id, label: processLabel(track), tracks: [] });
    }
    processes.get(key).tracks.push(track);
  }
  return [...processes.values()];
}

function processLabel({ process, pid }) {
  const name = visible(process || "", 200);
  const id = pid === null || pid === undefined ? "" : visible(pid, 40);
  if (!name) return id ? `Process ${id}` : "Process not named";
  return id && !name.includes(id) ? `${name} (${id})` : name;
}

function withLabel(track) {
  track.isCounter = track.kind === "counter" || track.kind === "memory";
  track.label = trackLabel(track);
  track.text = `${track.label} ${track.process || ""}`.toLowerCase();
  return track;
}

function trackLabel({ name, kind, tid, stream, device }) {
  const shown = visible(name || "", 200);
  if (kind === "gpu_stream" && stream !== null && stream !== undefined)
    return shown || `Device ${device} stream ${stream}`;
  const id = tid === null || tid === undefined ? "" : visible(tid, 40);
  if (!shown) return id ? `Thread ${id}` : "Track not named";
  return id && !shown.includes(id) ? `${shown} (${id})` : shown;
}

/** The name of a track away from its trace: after the rank or trace where there are several. */
export function fullLabel(model, track) {
  const trace = model.traces.find((t) => t.index === track.trace);
  if (model.traces.length < 2 || !trace) return track.label;
  const hasRank = trace.rank !== null && trace.rank !== undefined;
  return `${hasRank ? `Rank ${trace.rank}` : trace.label} · ${track.label}`;
}

/** Whether a group is folded before anybody folds anything. */
export function isFoldedAtFirst(model, id) {
  const trace = /^t(\d+)$/.exec(id);
  if (!trace || model.traces.length <= MANY_TRACES) return false;
  return model.traces.findIndex((t) => t.id === id) >= UNFOLDED_TRACES;
}

const ORDERS = {
  recorded: () => 0,
  busy: (a, b) => (b.busy_ns || 0) - (a.busy_ns || 0),
  name: (a, b) => a.label.localeCompare(b.label, "en", { numeric: true }),
};

/**
 * The rows of the timeline from top to bottom. `list` has the sets `toggled` (folded unlike at
 * first), `pinned`, `hidden`, the text `filter` and the `order`: recorded, busy or name. A row is
 * { kind: trace|process|track|pinned, id, level, label, note, isFolded, track }.
 */
export function rowsOf(model, list) {
  const isFolded = (id) => isFoldedAtFirst(model, id) !== list.toggled.has(id);
  const isShown = (track) =>
    !list.hidden.has(track.key) &&
    !list.pinned.has(track.key) &&
    (!list.filter || track.text.includes(list.filter));
  const rowOf = (track, level) => ({
    kind: "track",
    id: track.key,
    level,
    label: track.label,
    track,
    isFolded: isFolded(track.key),
  });
  const pinned = [...list.pinned].map((key) => model.tracks.get(key)).filter(Boolean);
  const rows = pinned.map((track) => {
    return { ...rowOf(track, 1), label: fullLabel(model, track), isPinned: true };
  });
  const hasTraces = model.traces.length > 1 || model.traces.some((t) => t.clock === "not known");

  for (const trace of model.traces) {
    const groups = trace.processes
      .map((group) => ({ ...group, tracks: group.tracks.filter(isShown) }))
      .filter((group) => group.tracks.length);
    const count = groups.reduce((sum, group) => sum + group.tracks.length, 0);
    // A filter hides traces without a match.
    if (!count && (list.filter || !hasTraces)) continue;
    if (hasTraces) rows.push(traceRow(trace, count, isFolded(trace.id)));
    if (hasTraces && isFolded(trace.id)) continue;
    for (const group of groups) {
      const folded = isFolded(group.id);
      rows.push(groupRow(group, hasTraces ? 2 : 1, folded));
      if (folded) continue;
      const sorted = group.tracks.slice().sort(ORDERS[list.order] || ORDERS.recorded);
      rows.push(...sorted.map((track) => rowOf(track, hasTraces ? 3 : 2)));
    }
  }
  return rows;
}

function traceRow(trace, count, isFolded) {
  const note = trace.clock === "not known" ? "clock not known" : "";
  return {
    kind: "trace",
    id: trace.id,
    level: 1,
    label: trace.label,
    note: note || (isFolded ? many(count, "track") : ""),
    title: trace.clock_note || "",
    isWarning: note !== "",
    isFolded,
  };
}

function groupRow(group, level, isFolded) {
  const note = isFolded ? many(group.tracks.length, "track") : "";
  return { kind: "process", id: group.id, level, label: group.label, note, isFolded };
}
