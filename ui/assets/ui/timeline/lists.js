// Which rows the timeline shows: folding, pinning, hiding, filter, order.
import { isFoldedAtFirst } from "./model.js";

/** Adds to `tl` the changes of its lists; returns what the toolbar and the list of tracks call. */
export function listActions(tl) {
  tl.isFolded = (id) => isFoldedAtFirst(tl.model, id) !== tl.list.toggled.has(id);
  tl.setFolded = (id, isFolded) => {
    if (tl.isFolded(id) === isFolded) return;
    if (!tl.list.toggled.delete(id)) tl.list.toggled.add(id);
  };

  function foldAll(isFolded) {
    for (const trace of tl.model.traces) {
      tl.setFolded(trace.id, isFolded);
      trace.processes.forEach((group) => tl.setFolded(group.id, isFolded));
    }
    tl.relayout();
  }

  function ofRow(name, row) {
    if (name === "fold") tl.setFolded(row.id, !row.isFolded);
    if (name === "pin" && !tl.list.pinned.delete(row.id)) tl.list.pinned.add(row.id);
    if (name === "hide") tl.list.hidden.add(row.id);
    tl.relayout();
  }

  function choose(name, value) {
    if (name === "filter") tl.list.filter = value.toLowerCase();
    if (name === "order") tl.list.order = value;
    if (name === "unhide") tl.list.hidden.clear();
    tl.relayout();
  }

  return { ofRow, choose, foldAll };
}
