// The pictures of tracks in a frame: tiles where they are there, the stretched tiles of other steps
// where they are not, and events painted directly where a bucket is wider than a pixel.
import { colour } from "../../web/charts/theme.js";
import { STRIP, counterFrame, laneHeight, laneTop } from "./layout.js";
import { paintCounters, widen } from "./paint_counters.js";
import { paintInstants, paintSlices } from "./paint_slices.js";
import { tileCache } from "./tiles.js";
import { TILE_BUCKETS, stepOf } from "./viewport.js";

/** Lanes of one tile; tracks with more lanes have several tiles below each other. */
const BAND = 64;
/** Steps whose tiles may stand in for missing ones, as powers of two. */
const STAND_INS = [1, 2, 3, 4, -1, -2, 5, 6, 7, 8];

/** Pictures of tracks; `tl` is the timeline. */
export function tracksPicture(tl) {
  const tiles = tileCache(paintTile);
  let fills = null;
  let version = -1;

  /** Begins a frame on `context`. */
  function begin(context) {
    tiles.begin();
    if (version === tl.colours.version && fills) return;
    version = tl.colours.version;
    fills = tl.colours.fills(context);
    tiles.clear();
  }

  function rangeOf(key) {
    if (!tl.ranges.has(key)) tl.ranges.set(key, { low: 0, high: 0, version: 0 });
    return tl.ranges.get(key);
  }

  /** Takes the values of a new block into the axis of a counter. */
  function widenBy(key, block) {
    const range = rangeOf(key);
    if (widen(range, block)) range.version += 1;
  }

  // Parts of a track that have tiles of their own, with their place in the row (CSS pixels).
  function partsOf(row) {
    if (row.track.isCounter) return [{ part: "values", ...counterFrame(row) }];
    const parts = row.track.instants ? [{ part: "instants", top: 1, height: STRIP }] : [];
    const lanes = Math.max(1, row.track.lanes || 1);
    const height = laneHeight(row);
    for (let lane0 = 0; lane0 < lanes; lane0 += BAND) {
      const lane1 = Math.min(lanes, lane0 + BAND);
      const top = laneTop(row) + lane0 * height;
      const part = `${lane0}x${height}`;
      parts.push({ part, lane0, lane1, lane: height, top, height: (lane1 - lane0) * height });
    }
    return parts;
  }

  // Paints a part of a track into `width` device pixels from the time `origin` on.
  function paintPart(context, row, part, block, place) {
    const { ratio } = tl.size;
    if (part.part === "values") {
      const range = rangeOf(row.track.key);
      paintCounters(context, block, { ...place, height: part.height * ratio }, range);
    } else if (part.part === "instants") {
      const size = Math.round((STRIP - 2) * ratio);
      paintInstants(context, block, { ...place, size });
    } else {
      const index = tl.colours.indexer(block, row.track.trace);
      const { lane0, lane1 } = part;
      paintSlices(
        context,
        block,
        { ...place, lane0, lane1, lane: part.lane * ratio },
        index,
        fills,
      );
    }
  }

  function paintTile(context, { key, row, partOf, step, number }, scale, width) {
    const span = TILE_BUCKETS * step;
    const origin = number * span;
    const end = Math.min(origin + span, Math.ceil(tl.view.length / span) * span);
    const block = tl.store.covering(key, step, Math.min(origin, tl.view.length), end);
    if (!block) return false;
    paintPart(context, row, partOf, block, { origin, scale, width });
    return true;
  }

  const requestOf = (row, partOf, step, number) => ({
    key: row.track.key,
    part: partOf.part,
    version: row.track.isCounter ? rangeOf(row.track.key).version : 0,
    height: Math.ceil(partOf.height * tl.size.ratio),
    row,
    partOf,
    step,
    number,
  });

  /** Draws a row whose top is at `y`; `context` has device pixels. */
  function draw(context, row, y, room) {
    const step = stepOf(tl.view, tl.size.ratio);
    const scale = tl.view.scale() * tl.size.ratio;
    for (const part of partsOf(row)) {
      const top = Math.round((y + part.top) * tl.size.ratio);
      if (y + part.top > room || y + part.top + part.height < 0) continue;
      if (step * scale > 1.001) direct(context, row, part, top, scale);
      else numbersOf(step).forEach((n) => tile(context, row, part, top, step, n, scale));
    }
  }

  function numbersOf(step) {
    const span = TILE_BUCKETS * step;
    const first = Math.max(0, Math.floor(tl.view.start / span));
    const last = Math.floor(Math.min(tl.view.end, tl.view.length - 1) / span);
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i);
  }

  function direct(context, row, part, top, scale) {
    const { start, end } = tl.view;
    const block = tl.store.covering(row.track.key, 1, Math.floor(start), Math.ceil(end));
    if (!block) return;
    const width = tl.size.width * tl.size.ratio;
    context.save();
    context.translate(0, top);
    paintPart(context, row, part, block, { origin: start, scale, width });
    context.restore();
  }

  function tile(context, row, part, top, step, number, scale) {
    const span = TILE_BUCKETS * step;
    const made = tiles.get(requestOf(row, part, step, number), scale, tl.isZooming());
    const left = (number * span - tl.view.start) * scale;
    if (made) place(context, made, left, top, scale);
    else standIn(context, row, part, top, step, number * span, scale);
  }

  function place(context, { canvas, scale: own, width, height }, left, top, scale) {
    if (own === scale) context.drawImage(canvas, Math.round(left), top);
    else context.drawImage(canvas, left, top, (width * scale) / own, height);
  }

  // Tiles of another step in the place of one that is not there yet.
  function standIn(context, row, part, top, step, from, scale) {
    const to = from + TILE_BUCKETS * step;
    const left = Math.round((from - tl.view.start) * scale);
    const right = Math.round((to - tl.view.start) * scale);
    context.save();
    context.beginPath();
    context.rect(left, top, right - left, part.height * tl.size.ratio);
    context.clip();
    if (
      !STAND_INS.some((by) => standInOf(context, row, part, top, step * 2 ** by, from, to, scale))
    ) {
      context.fillStyle = colour("hover");
      context.fillRect(left, top, right - left, part.height * tl.size.ratio);
    }
    context.restore();
  }

  function standInOf(context, row, part, top, step, from, to, scale) {
    if (step < 1) return false;
    const span = TILE_BUCKETS * step;
    let isFound = false;
    for (let number = Math.floor(from / span); number * span < to; number += 1) {
      const other = tiles.peek(requestOf(row, part, step, number));
      if (!other) continue;
      place(context, other, (number * span - tl.view.start) * scale, top, scale);
      isFound = true;
    }
    return isFound;
  }

  return { begin, draw, widenBy, rangeOf, clear: tiles.clear, isShort: tiles.isShort, tiles };
}
