// What tests ask the page: the events that are drawn, and the state.
import { blockInSight, visibleEvents } from "./shown_events.js";

/**
 * { visible(), blocks(), state(), show(start, end), ready }: `ready` is a promise that resolves
 * when all of what is in sight is loaded and drawn. `blocks()` are the answers that are drawn, as
 * { key, step, from, to }. Times are nanoseconds since the origin.
 */
export function testHook(tl) {
  return {
    visible: () => visibleEvents(tl),
    blocks: () => blocksInSight(tl),
    state: () => ({
      start: tl.view.start,
      end: tl.view.end,
      width: tl.size.width,
      height: tl.size.height,
      scroll: tl.scroll,
      selection: tl.selection && { ...tl.selection, answer: undefined },
      arrows: tl.arrows.list.length,
      hits: tl.hits.list.length,
      rows: tl.layout.rows.length,
      tile_bytes: tl.scene.picture.tiles.bytes(),
      entries: tl.store.size(),
    }),
    show(start, end) {
      tl.stopMoving();
      tl.view.show(start, end);
      tl.changed();
    },
    get ready() {
      return tl.settled();
    },
  };
}

function blocksInSight(tl) {
  const rows = tl.layout.inSight(tl.scroll, tl.size.height).map(({ row }) => row);
  const tracks = rows.filter((row) => row.kind === "track" && !row.track.isCounter);
  return tracks.flatMap(({ track }) => {
    const block = blockInSight(tl, track);
    return block ? [{ key: track.key, step: block.step, from: block.from, to: block.to }] : [];
  });
}
