// Blocks of tracks that live in the page, made as the server makes them: per lane and bucket the
// longest event that starts in it, and how many do.
import { counterBlock, sliceBlock } from "./blocks.js";

/** A block of events in lanes; times are nanoseconds since the origin. */
export function localSlices(lanes, instants, range) {
  const numbers = new Map();
  const nameOf = (name) => {
    if (!numbers.has(name)) numbers.set(name, numbers.size);
    return numbers.get(name);
  };
  const columns = { lane: [], start: [], end: [], id: [], name: [], count: [] };
  lanes.forEach((events, lane) => {
    for (const [event, count] of buckets(events, range)) {
      columns.lane.push(lane);
      columns.start.push(event.start);
      columns.end.push(event.end);
      columns.id.push(event.index);
      columns.name.push(nameOf(event.name));
      columns.count.push(count);
    }
  });
  const at = { at: [], at_count: [], at_id: [], at_name: [] };
  for (const [event, count] of buckets(instants, range)) {
    at.at.push(event.start);
    at.at_count.push(count);
    at.at_id.push(event.index);
    at.at_name.push(nameOf(event.name));
  }
  return sliceBlock({ ...columns, ...at }, [...numbers.keys()], range);
}

function buckets(events, { step, from, to }) {
  const found = new Map();
  for (const event of events) {
    if (event.start >= to || (event.end <= from && event.start < from)) continue;
    const bucket = Math.floor(event.start / step);
    const known = found.get(bucket);
    if (!known) found.set(bucket, [event, 1]);
    else {
      known[1] += 1;
      if (event.end - event.start > known[0].end - known[0].start) known[0] = event;
    }
  }
  return found.values();
}

/** A block of a counter from the point number `first` on. */
export function localCounter(name, points, first, range) {
  const series = { name, unit: null, at: [], min: [], max: [], last: [] };
  let bucket = null;
  for (let i = first; i < points.length && points[i].at < range.to; i += 1) {
    const { at, value } = points[i];
    const own = Math.floor(at / range.step);
    if (own !== bucket) {
      series.at.push(at);
      ["min", "max", "last"].forEach((key) => series[key].push(value));
    } else {
      const last = series.at.length - 1;
      series.min[last] = Math.min(series.min[last], value);
      series.max[last] = Math.max(series.max[last], value);
      series.last[last] = value;
    }
    bucket = own;
  }
  return counterBlock({ series: [series] }, range);
}
