// The timeline as a whole: it holds the state that its parts share, and draws a frame when
// something changed.
import { colouring } from "./colours.js";
import { blockStore } from "./block_store.js";
import { LANE, layoutOf } from "./layout.js";
import { loaderOf } from "./loader.js";
import { marksOf } from "./marks.js";
import { rowsOf } from "./model.js";
import { stepAt } from "./overlay.js";
import { sceneOf } from "./scene.js";
import { laneY } from "./shown_events.js";
import { stepOf, viewportOf } from "./viewport.js";

/** Zooming counts as over so many milliseconds after its last change. */
const ZOOM_END_MS = 120;
/** Tracks up to this many pixels outside of the area are loaded too. */
const MARGIN = 300;
/** What was scrolled to is so far from the edges, in pixels. */
const SCROLL_GAP = 6;
/** How long a move to another part takes, in milliseconds. */
const MOVE_MS = 180;

/**
 * The state of a timeline over a model. `list` has the sets and texts that choose rows, `ask` asks
 * the server, `say(text)` tells the user.
 */
export function timelineOf(model, list, ask, say) {
  const isStill = matchMedia("(prefers-reduced-motion: reduce)");
  let [zoomedAt, isRequested, moving] = [0, false, 0];
  const tl = {
    model,
    list,
    view: viewportOf(model.end),
    size: { width: 0, height: 0, ratio: devicePixelRatio || 1 },
    scroll: 0,
    layout: layoutOf([], 0),
    store: blockStore(),
    ranges: new Map(),
    pointer: { x: 0, y: 0, isInside: false },
    selection: null,
    hovered: null,
    drag: null,
    arrows: { list: [], left: 0 },
    hits: { list: [], at: -1 },
    categories: [],
    frames: [],
    afterFrame: [],
    onChange: [],
  };
  tl.colours = colouring((trace, time) => stepAt(tl, trace, time));
  tl.marks = marksOf(() => tl.changed());
  tl.scene = sceneOf(tl);
  tl.isZooming = () => performance.now() - zoomedAt < ZOOM_END_MS;
  tl.frames.push(tl.scene.draw);

  const loader = loaderOf({
    view: tl.view,
    store: tl.store,
    ask,
    local: (track, range) => track.block(range),
    arrived(tracks, { step, from, to }) {
      for (const { key } of tracks.filter((t) => t.isCounter)) {
        const block = tl.store.covering(key, step, from, to);
        if (block) tl.scene.picture.widenBy(key, block);
      }
      tl.redraw();
    },
    failed: (error) => say(error.message),
  });

  /** Draws a frame soon; several calls draw one. */
  tl.redraw = () => {
    if (isRequested) return;
    isRequested = true;
    requestAnimationFrame(() => {
      isRequested = false;
      frame();
    });
  };

  function frame() {
    const inSight = tl.layout.inSight(tl.scroll, tl.size.height, MARGIN);
    const tracks = inSight.filter(({ row }) => row.kind === "track").map(({ row }) => row.track);
    tl.frames.forEach((draw) => draw());
    loader.check(tracks, stepOf(tl.view, tl.size.ratio));
    if (tl.scene.picture.isShort() || tl.isZooming()) tl.redraw();
    else tl.afterFrame.splice(0).forEach((act) => act());
  }

  /** The view, the selection or the list changed: draws, and tells those who keep it. */
  tl.changed = () => {
    tl.redraw();
    tl.onChange.forEach((act) => act());
  };

  tl.zoomBy = (by, x) => {
    zoomedAt = performance.now();
    tl.view.zoom(by, x);
    tl.changed();
  };

  const mostScroll = () => Math.max(0, tl.layout.height - tl.size.height);

  tl.scrollTo = (y) => {
    tl.scroll = Math.round(Math.min(mostScroll(), Math.max(0, y)));
    tl.redraw();
  };
  tl.scrollBy = (by) => tl.scrollTo(tl.scroll + by);

  /** Lays out the rows again, because the list or the size changed. */
  tl.relayout = () => {
    tl.layout = layoutOf(rowsOf(tl.model, tl.list), tl.size.height);
    tl.scrollTo(tl.scroll);
    tl.changed();
  };

  tl.resize = () => {
    tl.scene.resize();
    tl.relayout();
  };

  /** Moves the view to [start, end), with motion unless that is unwanted. */
  tl.moveTo = (start, end) => {
    const move = (moving += 1);
    if (isStill.matches) {
      tl.view.show(start, end);
      tl.changed();
      return;
    }
    const [from, to] = [
      { start: tl.view.start, end: tl.view.end },
      { start, end },
    ];
    const begun = performance.now();
    const next = (now) => {
      if (move !== moving) return;
      const share = Math.min(1, Math.max(0, now - begun) / MOVE_MS);
      const eased = 1 - (1 - share) ** 3;
      const between = (key) => from[key] + (to[key] - from[key]) * eased;
      if (share < 1) {
        zoomedAt = performance.now();
        tl.view.show(between("start"), between("end"));
        requestAnimationFrame(next);
      } else tl.view.show(start, end);
      tl.changed();
    };
    requestAnimationFrame(next);
  };

  /** Ends a motion, because the user moves the view. */
  tl.stopMoving = () => {
    moving += 1;
  };

  /** Scrolls until a row is in sight. */
  tl.scrollToRow = (id) => {
    const place = tl.layout.place(id, tl.scroll);
    if (!place || isFixed(place.row)) return;
    const [top, bottom] = [tl.layout.fixedHeight, tl.size.height];
    if (place.y < top) tl.scrollBy(place.y - top);
    else if (place.y + place.row.height > bottom)
      tl.scrollBy(Math.min(place.y - top, place.y + place.row.height - bottom));
  };

  const isFixed = (row) => Boolean(row.isPinned && tl.layout.fixedHeight);

  /** Scrolls until the lane of an event is in sight. */
  tl.scrollToEvent = ({ key, lane }) => {
    const place = tl.layout.place(key, tl.scroll);
    if (!place || isFixed(place.row)) return;
    const y = laneY(place.row, Math.max(0, lane ?? 0), place.y);
    const [top, bottom] = [tl.layout.fixedHeight + SCROLL_GAP, tl.size.height - SCROLL_GAP];
    if (y < top) tl.scrollBy(y - top);
    else if (y + LANE > bottom) tl.scrollBy(y + LANE - bottom);
  };

  /** Brings an event into sight: unfolds its groups, scrolls, moves the view. */
  tl.reveal = ({ key, lane, start, end }) => {
    if (key && !tl.layout.byId.has(key)) unfold(key);
    if (key) tl.scrollToEvent({ key, lane });
    const span = tl.view.span();
    const isInside = start >= tl.view.start && end <= tl.view.end;
    const isVisible = (end - start) * tl.view.scale() >= 2 || start === end;
    if (isInside && isVisible) return;
    const room = Math.max(10 * (end - start), isVisible ? span : 0, 200);
    const middle = (start + end) / 2;
    tl.moveTo(middle - room / 2, middle + room / 2);
  };

  function unfold(key) {
    tl.list.hidden.delete(key);
    if (tl.list.filter && !tl.model.tracks.get(key)?.text.includes(tl.list.filter))
      tl.list.filter = "";
    for (const trace of tl.model.traces)
      for (const group of trace.processes)
        if (group.tracks.some((t) => t.key === key)) {
          tl.setFolded(trace.id, false);
          tl.setFolded(group.id, false);
        }
    tl.relayout();
  }

  /** Resolves when what is in sight is loaded and drawn. */
  tl.settled = async () => {
    for (;;) {
      await new Promise((done) => {
        tl.afterFrame.push(done);
        tl.redraw();
      });
      if (loader.isQuiet()) return;
      await loader.settled();
    }
  };

  return tl;
}
