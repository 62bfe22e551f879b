// The selection: an event or an area. Selecting one asks the server for details, shows them in the
// drawer, and sets the arrows.
import { el } from "../../web/base/elements.js";
import { ns } from "../../web/base/format.js";
import { textOf, visible } from "../base/text.js";
import { areaDetails } from "./area_details.js";
import { arrowsOf } from "./arrows.js";
import { eventDetails } from "./event_details.js";
import { neighbourSql, sqlLink } from "./sql.js";

/** The server sums up so many tracks at once. */
const MAX_TRACKS = 500;
const NO_ARROWS = { list: [], left: 0 };

/** The selection of `tl`; `ask` asks the server, `changed()` is called after each change. */
export function selectionOf(tl, { ask, drawer, say, changed }) {
  let controller = null;

  function begin() {
    controller?.abort();
    controller = new AbortController();
    tl.arrows = NO_ARROWS;
    return controller.signal;
  }

  function failed(error) {
    if (error.name !== "AbortError") drawer.fill("Not found", [], notice(error.message));
  }

  const notice = (text) => el("p", { class: "notice bad" }, visible(text, 1000));

  function clear() {
    begin();
    tl.selection = null;
    drawer.show(false);
    tl.redraw();
    changed();
  }

  /** Selects an event { trace, id, key, lane, start, end, name }; `isShown` moves it into sight. */
  async function event(found, isShown = false) {
    const signal = begin();
    tl.selection = { ...found, kind: "event" };
    if (isShown) tl.reveal(tl.selection);
    tl.redraw();
    changed();
    try {
      const answer = await ask(
        "/api/event",
        { trace: found.trace, event_id: found.id },
        { signal },
      );
      place(answer);
      say(`${visible(answer.event.name ?? "no name", 120)}, ${lengthOf(answer)}`);
      show(answer, ask("/api/same_name", { trace: found.trace, event_id: found.id }, { signal }));
      const launch = await launchPlace(found, answer, signal);
      tl.arrows = arrowsOf(tl.selection, answer, launch);
      tl.redraw();
    } catch (error) {
      failed(error);
    }
  }

  // The answer is exact where the picture knows only the bucket.
  function place(answer) {
    const { key, start, end, event: row } = answer;
    Object.assign(tl.selection, { key, start, end: end ?? start, name: row.name, answer });
    if (answer.lane !== null && answer.lane !== undefined) tl.selection.lane = answer.lane;
    changed();
  }

  const lengthOf = ({ start, end }) => ns((end ?? start) - start);

  async function launchPlace({ trace }, { launch }, signal) {
    if (launch?.launch_id === null || launch?.launch_id === undefined) return null;
    const { trace_id } = tl.model.traces[trace];
    const found = await ask("/api/locate", { trace_id, event_id: launch.launch_id }, { signal });
    return found.key ? { ...found, event_id: launch.launch_id } : null;
  }

  function show(answer, same) {
    const name = answer.event.name ?? "";
    const heading = [
      textOf(name, 300),
      el("span", { class: "quiet small" }, ` ${lengthOf(answer)}`),
    ];
    drawer.fill(
      heading,
      [
        el(
          "button",
          { type: "button", class: "ghost small", onclick: () => copy(name) },
          "Copy name",
        ),
        answer.sql ? el("a", { href: sqlLink(answer.sql) }, "Row in SQL") : null,
      ],
      eventDetails(tl, answer, select, same),
    );
    // The drawer may have covered the event.
    tl.scrollToEvent(tl.selection);
  }

  const copy = (text) =>
    navigator.clipboard?.writeText(text).then(
      () => say("Copied"),
      () => {},
    );

  /** Selects an event by trace (number) and event_id, wherever it is. */
  async function select(trace, id) {
    try {
      const { trace_id } = tl.model.traces[trace];
      const found = await ask("/api/locate", { trace_id, event_id: id });
      if (found.reason) say(found.reason);
      else await event({ ...found, trace, id }, true);
    } catch (error) {
      failed(error);
    }
  }

  /** Selects [start, end) in nanoseconds on the tracks with these keys. */
  async function area(start, end, keys) {
    const signal = begin();
    const [from, to] = [Math.max(0, Math.round(start)), Math.round(end)];
    const all = keys.filter((key) => !tl.model.tracks.get(key)?.isLocal);
    const tracks = all.slice(0, MAX_TRACKS);
    const left = all.length - tracks.length;
    tl.selection = { kind: "area", start: from, end: to, keys: tracks, left };
    tl.redraw();
    changed();
    say(`Area of ${ns(to - from)} selected`);
    if (!tracks.length) return;
    try {
      const answer = await ask("/api/area", { tracks, start: from, end: to }, { signal });
      const rows = answer.rows_sql || answer.sql;
      drawer.fill(
        `Area of ${ns(to - from)}`,
        [
          rows ? el("a", { href: sqlLink(rows) }, "Rows of this selection in SQL") : null,
          answer.sql && answer.rows_sql
            ? el("a", { href: sqlLink(answer.sql) }, "Sums in SQL")
            : null,
        ],
        areaDetails(tl, tl.selection, answer, (name) => tl.search.set(name, "contains")),
      );
    } catch (error) {
      failed(error);
    }
  }

  /** Selects the next event on the track, or the one before. */
  async function neighbour(isNext) {
    const { selection } = tl;
    if (selection?.kind !== "event") return;
    const track = tl.model.tracks.get(selection.key);
    const trace = tl.model.traces[selection.trace];
    if (!track || track.isLocal || track.track_id === null) return;
    const ts = BigInt(selection.start) + trace.shift;
    const sql = neighbourSql(trace.trace_id, track.track_id, ts, selection.id, isNext);
    try {
      const answer = await ask("/api/query", {
        id: "timeline-next",
        sql,
        parameters: {},
        max_rows: 1,
      });
      if (answer.rows.length) await select(selection.trace, Number(answer.rows[0][0]));
      else
        say(
          isNext ? "This is the last event of the track" : "This is the first event of the track",
        );
    } catch (error) {
      failed(error);
    }
  }

  /** Follows an arrow to the event after the selected one, or back to the one before. */
  function along(isForward) {
    const { selection } = tl;
    if (selection?.kind !== "event") return;
    const [near, far] = isForward ? ["from", "to"] : ["to", "from"];
    const arrow = tl.arrows.list.find((a) => a[near].event_id === selection.id);
    if (arrow) select(selection.trace, arrow[far].event_id);
    else say(isForward ? "No arrow leads on from here" : "No arrow leads here");
  }

  /** Selects the area of the selected event on its track. */
  function areaFromEvent() {
    const { selection } = tl;
    if (selection?.kind === "event") area(selection.start, selection.end, [selection.key]);
  }

  return { clear, event, select, area, neighbour, along, areaFromEvent };
}
