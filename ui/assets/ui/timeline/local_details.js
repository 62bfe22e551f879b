// What the drawer shows of an event of a query: the row, and the event that it names.
import { el } from "../../web/base/elements.js";
import { textOf } from "../base/text.js";

/** Fills the drawer with the row of an event; `go(trace, event_id)` selects an event. */
export function showLocal(tl, drawer, event, go) {
  const track = tl.model.tracks.get(event.key);
  const found = track.rows.find((r) => r.index === event.id);
  const lines = track.columns.flatMap((name, i) => [
    el("dt", {}, textOf(name, 200)),
    el("dd", {}, found.row[i] === null ? "NULL" : textOf(found.row[i])),
  ]);
  const at = track.columns.findIndex((name) => name === "event_id" || name.endsWith("_event_id"));
  const id = at >= 0 ? found.row[at] : null;
  const select = () => go(event.trace, Number(id));
  drawer.fill(
    textOf(event.name, 300),
    [
      id !== null
        ? el("button", { type: "button", class: "ghost small", onclick: select }, `Event ${id}`)
        : null,
    ],
    el("dl", { class: "tl-columns" }, lines),
  );
}
