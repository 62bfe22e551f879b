// Shows what the address says: lists of rows, the part in sight, marks, a query as tracks, the
// search, the selection.
import { debugTracks } from "./debug_track.js";
import { listsOf, spanOf, wantedSelection } from "./saved_state.js";
import { ORDERS } from "./toolbar.js";

/** A function that applies the values of the address to `tl`. */
export function addressReader(tl, { ask, say, selection, setColour }) {
  async function apply(values) {
    Object.assign(tl.list, listsOf(values));
    if (values.marks !== (tl.marks.text() ?? undefined)) tl.marks.read(values.marks);
    if ((values.colour || "name") !== tl.colours.mode()) await setColour(values.colour || "name");
    if (values.track_sql !== undefined) await addTracks(values.track_sql);
    else addLocal([]);
    tl.relayout();
    const span = spanOf(values.view);
    if (span) tl.view.show(...span);
    else tl.view.whole();
    if ((values.find || null) !== tl.search.text() && (values.find || tl.search.text()))
      tl.search.set(values.find || "", values.find_mode);
    const wanted = wantedSelection(values);
    if (wanted) await select(wanted, Boolean(span));
    else if (tl.selection) selection.clear();
    const odd = unknown(values);
    if (odd.length) say(`The address has values that mean nothing here: ${odd.join(", ")}`);
    tl.redraw();
  }

  /** Parts of the address that name nothing, such as a trace that is not open. */
  function unknown(values) {
    const odd = ["view", "area"].filter((name) => values[name] && !spanOf(values[name]));
    const keys = (values.tracks || "").split(",").filter(Boolean);
    if (keys.some((key) => !tl.model.tracks.has(key))) odd.push("tracks");
    const isTrace = (name) => tl.model.traces.some((t) => t.trace_id === traceIdOf(name));
    if (values.trace !== undefined && !isTrace(values.trace)) odd.push("trace");
    if (values.find_mode && !tl.search.knows(values.find_mode)) odd.push("find_mode");
    if (values.order && !ORDERS.some(([key]) => key === values.order)) odd.push("order");
    return odd.map((name) => `${name}=${values[name]}`);
  }

  async function addTracks(sql) {
    try {
      const { tracks, problem, note } = await debugTracks(tl.model, ask, sql);
      say(problem || note || "");
      addLocal(tracks);
    } catch (error) {
      say(error.message);
    }
  }

  function addLocal(tracks) {
    const { model } = tl;
    const old = [...model.tracks.keys()].filter((key) => key.startsWith("sql:"));
    for (const key of old) {
      model.tracks.delete(key);
      tl.list.pinned.delete(key);
      tl.ranges.delete(key);
    }
    if (old.length) {
      tl.store.clear();
      tl.scene.picture.clear();
    }
    for (const track of tracks) {
      track.isCounter = track.kind === "counter";
      track.label = track.name;
      track.text = track.name.toLowerCase();
      model.tracks.set(track.key, track);
      tl.list.pinned.add(track.key);
    }
  }

  // A trace is named by its id or by its number.
  const traceIdOf = (name) =>
    name === undefined || tl.model.traces.some((t) => t.trace_id === name)
      ? name
      : (tl.model.traces[Number(name)]?.trace_id ?? name);

  async function select(wanted, hasView) {
    if (wanted.kind === "area") {
      const keys = wanted.keys.length ? wanted.keys : tracksOf(null);
      return selection.area(
        ...wanted.area,
        keys.filter((key) => tl.model.tracks.has(key)),
      );
    }
    const { trace_id, event_id, ts_ns, end_ns, dur_ns } = wanted;
    const about = { trace_id: traceIdOf(trace_id) };
    let found = { reason: "" };
    if (event_id !== undefined) found = await locate({ ...about, event_id });
    if (found.reason !== undefined && ts_ns !== undefined)
      found = await locate({ ...about, ts_ns, end_ns, dur_ns });
    if (found.reason !== undefined) return say(`Not on the timeline: ${found.reason}`);
    if (found.event_id !== undefined && found.event_id !== null && found.key)
      return selection.event({ ...found, id: Number(found.event_id) }, !hasView);
    if (!hasView) tl.moveToSpan(found.start, found.end);
    return selection.area(found.start, found.end, found.key ? [found.key] : tracksOf(found.trace));
  }

  const locate = (body) => ask("/api/locate", body).catch((error) => ({ reason: error.message }));

  // The tracks of events of a trace, or of all traces.
  const tracksOf = (trace) =>
    [...tl.model.tracks.values()]
      .filter((t) => !t.isCounter && !t.isLocal && (trace === null || t.trace === trace))
      .map((t) => t.key);

  return apply;
}
