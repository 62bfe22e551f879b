// What the server answered for one track and one step: a block. Its entries are ordered by lane
// and start, and entries of a lane do not overlap, so places are found by halving.

/**
 * A block of slices for [from, to) in nanoseconds. `answer` is one track of POST /api/slices, and
 * `names` are the texts that its numbers mean.
 */
export function sliceBlock(answer, names, { step, from, to }) {
  const empty = { lane: [], start: [], end: [], id: [], name: [], count: [] };
  const { lane, start, end, id, name, count } = sorted({ ...empty, ...answer });
  const instants = {
    at: answer?.at || [],
    count: answer?.at_count || [],
    id: answer?.at_id || [],
    name: answer?.at_name || [],
  };
  const first = [];
  for (let i = 0; i < lane.length; i += 1) while (first.length <= lane[i]) first.push(i);
  first.push(lane.length);
  const size = lane.length + instants.at.length;
  return { step, from, to, names, lane, start, end, id, name, count, first, instants, size };
}

// Answers come in order; should one not, it is put in order here.
function sorted(columns) {
  const { lane, start } = columns;
  const isBefore = (a, b) => lane[a] - lane[b] || start[a] - start[b];
  let isOrdered = true;
  for (let i = 1; i < lane.length && isOrdered; i += 1) isOrdered = isBefore(i - 1, i) <= 0;
  if (isOrdered) return columns;
  const order = Array.from(lane, (_, i) => i).sort(isBefore);
  const keys = ["lane", "start", "end", "id", "name", "count"];
  return Object.fromEntries(keys.map((key) => [key, order.map((i) => columns[key][i])]));
}

/** A block of a counter; `answer` is one track of POST /api/counters. */
export function counterBlock(answer, { step, from, to }) {
  const series = answer?.series || [];
  const size = series.reduce((sum, s) => sum + s.at.length, 0);
  return { step, from, to, series, size };
}

/** The first place of `list` between `low` and `high` whose value is above `value`. */
export function firstAbove(list, value, low, high) {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] > value) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * The entries of a lane that reach into [from, to), as [first, behind the last]. The entry before
 * them is included if it ends at `from`, which makes no difference to drawing.
 */
export function entriesOf(block, lane, from, to) {
  const [low, high] = [block.first[lane] ?? 0, block.first[lane + 1] ?? 0];
  if (low >= high) return [0, 0];
  const behind = firstAbove(block.start, to, low, high);
  let at = firstAbove(block.start, from, low, high);
  if (at > low && block.end[at - 1] >= from) at -= 1;
  return [at, behind];
}

/** The number of lanes that a block has. */
export const lanesOf = (block) => Math.max(0, block.first.length - 1);
