// Paints events of a block as rectangles, grouped by colour, because changing the colour is what
// costs time. Sizes are device pixels.
import { colour } from "../../web/charts/theme.js";
import { entriesOf, firstAbove, lanesOf } from "./blocks.js";

/** Wider rectangles leave a gap to their neighbour. */
const GAP_FROM = 4;

/**
 * Paints lanes [lane0, lane1) of the time from `origin` on, `width` pixels wide. `scale` is in
 * pixels per nanosecond, `lane` the height of a lane.
 */
export function paintSlices(context, block, place, indexOf, fills) {
  const { origin, scale, width, lane0, lane1, lane, top = 0 } = place;
  const to = origin + width / scale;
  const groups = new Map();
  const last = Math.min(lane1, lanesOf(block));
  for (let row = lane0; row < last; row += 1) {
    const y = top + Math.round((row - lane0) * lane);
    const [first, behind] = entriesOf(block, row, origin, to);
    for (let i = first; i < behind; i += 1) {
      const left = Math.max(-4, Math.round((block.start[i] - origin) * scale));
      const right = Math.min(width + 4, Math.round((block.end[i] - origin) * scale));
      const index = indexOf(i);
      let group = groups.get(index);
      if (!group) groups.set(index, (group = []));
      group.push(left, y, right - left);
    }
  }
  const height = Math.max(1, Math.round(lane) - (lane > 6 ? 1 : 0));
  for (const [index, group] of groups) {
    context.fillStyle = fills[index];
    for (let i = 0; i < group.length; i += 3) {
      const wide = group[i + 2];
      context.fillRect(
        group[i],
        group[i + 1],
        wide > GAP_FROM ? wide - 1 : Math.max(1, wide),
        height,
      );
    }
  }
}

/** Paints instants of a block as small diamonds of `size` pixels. */
export function paintInstants(context, block, { origin, scale, width, size, top = 0 }) {
  const { at } = block.instants;
  const half = size / 2;
  const from = firstAbove(at, origin - half / scale - 1, 0, at.length);
  const to = origin + (width + half) / scale;
  context.fillStyle = colour("medium");
  context.beginPath();
  for (let i = from; i < at.length && at[i] <= to; i += 1) {
    const x = Math.round((at[i] - origin) * scale) + 0.5;
    context.moveTo(x, top);
    context.lineTo(x + half, top + half);
    context.lineTo(x, top + size);
    context.lineTo(x - half, top + half);
  }
  context.fill();
}
