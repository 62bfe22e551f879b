// The events that a frame shows, with their rectangles in CSS pixels: for labels, for the pointer,
// and for tests.
import { entriesOf, lanesOf } from "./blocks.js";
import { laneHeight, laneTop } from "./layout.js";
import { stepOf } from "./viewport.js";

/** The block of a track for what is in sight, or null if it is not there yet. */
export function blockInSight(tl, track) {
  const step = stepOf(tl.view, tl.size.ratio);
  const from = Math.max(0, Math.floor(tl.view.start));
  return tl.store.covering(track.key, step, from, Math.min(tl.view.length, tl.view.end));
}

/** Calls `act(block, i, lane)` for the entries of a track that reach into the view. */
export function eachShown(tl, track, act) {
  const block = blockInSight(tl, track);
  if (!block || track.isCounter) return;
  for (let lane = 0; lane < lanesOf(block); lane += 1) {
    const [first, behind] = entriesOf(block, lane, tl.view.start, tl.view.end);
    for (let i = first; i < behind; i += 1) act(block, i, lane);
  }
}

/** The top of a lane of a row whose top is at `y`. */
export const laneY = (row, lane, y) => y + laneTop(row) + lane * laneHeight(row);

/** The rectangle of [start, end) in a lane of a row whose top is at `y`. */
export function rectangle(tl, row, lane, start, end, y) {
  const x = tl.view.x(start);
  const width = Math.max(1, tl.view.x(end) - x);
  const top = row.track.isCounter ? y + 2 : laneY(row, lane, y);
  const height = row.track.isCounter ? row.height - 4 : Math.max(1, laneHeight(row) - 1);
  return { x, y: top, width, height };
}

/**
 * All events that are drawn now: { kind, key, lane, id, name, start, end, count, x, y, width,
 * height }. Times are nanoseconds since the origin, places are CSS pixels of the area of tracks.
 */
export function visibleEvents(tl) {
  const list = [];
  for (const { row, y } of tl.layout.inSight(tl.scroll, tl.size.height)) {
    if (row.kind !== "track") continue;
    const { track } = row;
    eachShown(tl, track, (block, i, lane) => {
      const [start, end] = [block.start[i], block.end[i]];
      if (end <= tl.view.start || start >= tl.view.end) return;
      const place = rectangle(tl, row, lane, start, end, y);
      const about = { id: block.id[i], name: block.names[block.name[i]], count: block.count[i] };
      list.push({ kind: "slice", key: track.key, lane, ...about, start, end, ...place });
    });
    list.push(...visibleInstants(tl, row, y));
  }
  return list;
}

function visibleInstants(tl, row, y) {
  const block = row.track.isCounter ? null : blockInSight(tl, row.track);
  if (!block) return [];
  const { at, id, name, count } = block.instants;
  return Array.from(at).flatMap((time, i) => {
    if (time < tl.view.start || time > tl.view.end) return [];
    const place = { x: tl.view.x(time), y: y + 1, width: 1, height: 7 };
    const about = { id: id[i], name: block.names[name[i]], count: count[i] };
    return [
      { kind: "instant", key: row.track.key, lane: -1, ...about, start: time, end: time, ...place },
    ];
  });
}
