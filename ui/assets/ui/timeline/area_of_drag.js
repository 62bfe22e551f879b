// The tracks and times below a rectangle.

/** { start, end, keys } of a drag in CSS pixels. */
export function areaOfDrag(tl, { x0, x1, y0, y1 }) {
  const [left, right] = [Math.min(x0, x1), Math.max(x0, x1)];
  const [top, bottom] = [Math.min(y0, y1), Math.max(y0, y1)];
  const rows = tl.layout.inSight(tl.scroll, tl.size.height);
  const isBelow = ({ row, y }) => row.kind === "track" && y < bottom && y + row.height > top;
  const keys = rows.filter(isBelow).map(({ row }) => row.track.key);
  const clamp = (time) => Math.min(tl.view.length, Math.max(0, time));
  return { start: clamp(tl.view.time(left)), end: clamp(tl.view.time(right)), keys };
}
