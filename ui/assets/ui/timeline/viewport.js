// The part of the time axis in sight. Times are nanoseconds since the origin; doubles hold them
// exactly up to 104 days.

/** The shortest part in sight, in nanoseconds. */
const LEAST_SPAN_NS = 10;
/** Buckets of one tile. */
export const TILE_BUCKETS = 1024;

/**
 * A view of `end` nanoseconds. `start` and `end` of the view are in nanoseconds, `width` is in CSS
 * pixels.
 */
export function viewportOf(end) {
  // A little room at the end keeps what happens at the last instant in sight.
  const length = Math.min(Number.MAX_SAFE_INTEGER, Math.max(100, Math.ceil(end * 1.005)));
  const view = { start: 0, end: length, width: 1000, length };

  function set(start, span) {
    const size = Math.min(length, Math.max(LEAST_SPAN_NS, span));
    view.start = Math.min(Math.max(0, start), length - size);
    view.end = view.start + size;
  }

  view.span = () => view.end - view.start;
  /** Pixels per nanosecond. */
  view.scale = () => view.width / view.span();
  view.x = (time) => (time - view.start) * view.scale();
  view.time = (x) => view.start + x / view.scale();
  view.pan = (pixels) => set(view.start + pixels / view.scale(), view.span());
  /** Makes the part `by` times as long; the time at `x` stays where it is. */
  view.zoom = (by, x) => {
    const span = Math.min(length, Math.max(LEAST_SPAN_NS, view.span() * by));
    set(view.time(x) - (span * x) / view.width, span);
  };
  view.show = (start, end) => set(Math.min(start, end), Math.abs(end - start));
  view.whole = () => set(0, length);
  view.centre = (time) => set(time - view.span() / 2, view.span());
  return view;
}

/** Nanoseconds per bucket: the largest power of two that is at most one pixel of the screen. */
export function stepOf(view, ratio) {
  const perPixel = 1 / (view.scale() * ratio);
  return perPixel < 1 ? 1 : 2 ** Math.floor(Math.log2(perPixel));
}
