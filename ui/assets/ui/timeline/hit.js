// What is below a point of the area of tracks.
import { entriesOf, firstAbove } from "./blocks.js";
import { laneHeight, laneTop } from "./layout.js";
import { indexAt } from "./paint_counters.js";
import { blockInSight } from "./shown_events.js";

/** Events this many pixels beside the pointer are meant too, if none is below it. */
const NEAR = 3;

/**
 * The row and, if there is one, the event or the values at (x, y) in CSS pixels: { row, y, event,
 * values }, or null outside of all rows.
 */
export function hitAt(tl, x, y) {
  const found = tl.layout.at(y, tl.scroll);
  if (!found || !found.row || found.row.kind !== "track") return found;
  const block = blockInSight(tl, found.row.track);
  if (!block) return found;
  if (found.row.track.isCounter) return { ...found, values: valuesAt(tl, block, x) };
  return { ...found, event: eventAt(tl, found, block, x, y - found.y) };
}

function eventAt(tl, { row }, block, x, inside) {
  const { track } = row;
  if (inside < laneTop(row) && track.instants) return instantAt(tl, track, block, x);
  const lane = Math.floor((inside - laneTop(row)) / laneHeight(row));
  if (lane < 0 || lane >= (track.lanes || 1)) return null;
  const near = NEAR / tl.view.scale();
  const time = tl.view.time(x);
  const [first, behind] = entriesOf(block, lane, time - near, time + near);
  let [best, distance] = [-1, near];
  for (let i = first; i < behind; i += 1) {
    const away = Math.max(block.start[i] - time, time - block.end[i], 0);
    const isBetter = best < 0 ? away <= distance : away < distance;
    if (isBetter) [best, distance] = [i, away];
  }
  return best < 0 ? null : eventOf(track, block, best, lane);
}

function eventOf(track, block, i, lane) {
  const [start, end] = [block.start[i], block.end[i]];
  const about = { id: block.id[i], name: block.names[block.name[i]], count: block.count[i] };
  return { trace: track.trace, key: track.key, lane, start, end, ...about };
}

function instantAt(tl, track, { instants, names }, x) {
  const near = (NEAR + 2) / tl.view.scale();
  const time = tl.view.time(x);
  const after = firstAbove(instants.at, time, 0, instants.at.length);
  const away = (i) => Math.abs((instants.at[i] ?? Infinity) - time);
  const i = away(after) < away(after - 1) ? after : after - 1;
  if (!(away(i) <= near)) return null;
  const at = instants.at[i];
  const about = { id: instants.id[i], name: names[instants.name[i]], count: instants.count[i] };
  return { trace: track.trace, key: track.key, lane: -1, start: at, end: at, ...about };
}

function valuesAt(tl, block, x) {
  const time = tl.view.time(x);
  return block.series.map((series, number) => {
    const i = indexAt(series, time);
    const value = i < 0 ? null : { at: series.at[i], last: series.last[i] };
    const range = i < 0 ? {} : { min: series.min[i], max: series.max[i] };
    return { name: series.name, unit: series.unit, number, ...value, ...range };
  });
}

/** The event of a track with this id around a time, if the block in sight holds it. */
export function eventById(tl, key, id, time) {
  const track = tl.model.tracks.get(key);
  const block = track && blockInSight(tl, track);
  if (!block || track.isCounter) return null;
  for (let lane = 0; lane < block.first.length - 1; lane += 1) {
    const [first, behind] = entriesOf(block, lane, time, time + 1);
    for (let i = first; i < behind; i += 1)
      if (block.id[i] === id) return eventOf(track, block, i, lane);
  }
  return null;
}
