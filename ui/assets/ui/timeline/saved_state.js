// The state of the timeline in the address: what is in sight, what is selected, what is pinned and
// folded. A copied address shows the same.
import { setState, state } from "../base/address.js";

/** The address is written when nothing has changed for so long, in milliseconds. */
const WAIT_MS = 250;

const list = (set) => (set.size ? [...set].join(",") : null);
const setOf = (text) => new Set((text || "").split(",").filter(Boolean));

/** What lists of rows the address names. */
export function listsOf({ folded, pinned, hidden, filter, order }) {
  return {
    toggled: setOf(folded),
    pinned: setOf(pinned),
    hidden: setOf(hidden),
    filter: (filter || "").toLowerCase(),
    order: order || "recorded",
  };
}

/** [start, end] of a text "START-END" in nanoseconds, or null. */
export function spanOf(text) {
  const [start, end] = (text || "").split("-").map(Number);
  return text && Number.isFinite(start) && end >= start ? [start, end] : null;
}

/** Writes the state of `tl`: `write()` soon, `write(true)` at once. */
export function stateWriter(tl) {
  let timer = null;

  function write(isNow = false) {
    clearTimeout(timer);
    if (isNow) put();
    else timer = setTimeout(put, WAIT_MS);
  }

  function put() {
    setState({ ...viewState(), ...selectionState(), ...listState() }, { replace: true });
  }

  function viewState() {
    const { start, end, length } = tl.view;
    const isWhole = start <= 0 && end >= length;
    return { view: isWhole ? null : `${rounded(start)}-${rounded(end)}`, marks: tl.marks.text() };
  }

  const rounded = (time) => Math.round(time * 100) / 100;

  // An event by its id and by its absolute times, because stores outlive versions.
  function selectionState() {
    const none = {
      trace: null,
      event_id: null,
      ts_ns: null,
      dur_ns: null,
      area: null,
      tracks: null,
    };
    const { selection } = tl;
    const gone = { ...none, start_ns: null, end_ns: null };
    if (!selection) return gone;
    if (selection.kind === "area") {
      const tracks = selection.keys.join(",");
      return { ...gone, area: `${selection.start}-${selection.end}`, tracks };
    }
    const trace = tl.model.traces[selection.trace];
    if (!trace || tl.model.tracks.get(selection.key)?.isLocal) return gone;
    return {
      ...gone,
      trace: trace.trace_id,
      event_id: selection.id,
      ts_ns: String(BigInt(selection.start) + trace.shift),
      dur_ns: selection.end - selection.start,
    };
  }

  function listState() {
    const pinned = new Set([...tl.list.pinned].filter((key) => !key.startsWith("sql:")));
    return {
      folded: list(tl.list.toggled),
      pinned: list(pinned),
      hidden: list(tl.list.hidden),
      filter: tl.list.filter || null,
      order: tl.list.order === "recorded" ? null : tl.list.order,
      colour: tl.colours.mode() === "name" ? null : tl.colours.mode(),
      find: tl.search?.text() ?? null,
      find_mode: tl.search?.text() && tl.search.mode() !== "contains" ? tl.search.mode() : null,
    };
  }

  return { write };
}

/** What the address selects: { event }, { times } or { area }, or null. */
export function wantedSelection(values = state()) {
  const { trace, trace_id: traceId, event_id: event, ts_ns: ts, dur_ns: dur } = values;
  const about = { trace_id: traceId ?? trace };
  const start = values.start_ns ?? ts;
  const times = { ts_ns: start, end_ns: values.end_ns, dur_ns: dur };
  if (event !== undefined) return { kind: "event", ...about, event_id: event, ...times };
  if (start !== undefined) return { kind: "times", ...about, ...times };
  const area = spanOf(values.area);
  if (area) return { kind: "area", area, keys: (values.tracks || "").split(",").filter(Boolean) };
  return null;
}
