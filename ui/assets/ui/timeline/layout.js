// Where rows are, in CSS pixels from the top of all rows. Pinned rows stay at the top of the area.
export const LANE = 18;
const FOLDED_LANE = 4;
/** Height of the strip for instants. */
export const STRIP = 9;
const PAD = 4;
const COUNTER = 48;
const FOLDED_COUNTER = 22;
const LEAST = 24;
const HEADS = { trace: 30, process: 25 };

/** The height of one lane of a track row. */
export const laneHeight = (row) => (row.isFolded ? FOLDED_LANE : LANE);

/** The room above the first lane of a track row. */
export const laneTop = (row) => PAD / 2 + (row.track.instants ? STRIP : 0);

/** The place of the values of a counter row, from the top of the row. */
export const counterFrame = (row) => ({ top: 3, height: row.height - 7 });

function heightOf(row) {
  if (row.kind !== "track") return HEADS[row.kind];
  if (row.track.isCounter) return row.isFolded ? FOLDED_COUNTER : COUNTER;
  const lanes = Math.max(1, row.track.lanes || 1);
  return Math.max(LEAST, laneTop(row) + lanes * laneHeight(row) + PAD);
}

/** Gives rows their `top` and `height`; `room` is the height of the area in sight. */
export function layoutOf(rows, room) {
  let height = 0;
  for (const row of rows) {
    row.height = heightOf(row);
    row.top = height;
    height += row.height;
  }
  const pinned = rows.filter((row) => row.isPinned);
  const pinnedHeight = pinned.reduce((sum, row) => sum + row.height, 0);
  // Pinned rows that would take more than half of the area move with the others.
  const fixed = pinnedHeight <= room / 2 ? pinned.length : 0;
  const fixedHeight = fixed ? pinnedHeight : 0;
  const byId = new Map(rows.map((row) => [row.id, row]));

  // The first row of the moving ones that ends below `y`.
  function firstBelow(y) {
    let [low, high] = [fixed, rows.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (rows[middle].top + rows[middle].height > y) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** The rows in sight as { row, y }, with rows up to `margin` pixels outside of the area. */
  function inSight(scroll, room, margin = 0) {
    const list = rows.slice(0, fixed).map((row) => ({ row, y: row.top }));
    const end = scroll + room + margin;
    for (let i = firstBelow(scroll + fixedHeight - margin); i < rows.length; i += 1) {
      if (rows[i].top >= end) break;
      list.push({ row: rows[i], y: rows[i].top - scroll });
    }
    return list;
  }

  /** The row at `y` of the area as { row, y }, or null. */
  function at(y, scroll) {
    if (y < fixedHeight) {
      const row = rows.slice(0, fixed).find((r) => y < r.top + r.height);
      return { row, y: row.top };
    }
    const row = rows[firstBelow(y + scroll)];
    return row && row.top <= y + scroll ? { row, y: row.top - scroll } : null;
  }

  /** Where a track is now, as { row, y }, or null if it is folded away or hidden. */
  function place(id, scroll) {
    const row = byId.get(id);
    if (!row) return null;
    return { row, y: rows.indexOf(row) < fixed ? row.top : row.top - scroll };
  }

  return { rows, height, fixedHeight, inSight, at, place, byId };
}
