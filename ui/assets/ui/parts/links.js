// Links between the pages. All state of a page is in the fragment of its address.

function fragment(path, values) {
  const parts = Object.entries(values)
    .filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`);
  return parts.length ? `${path}#${parts.join("&")}` : path;
}

/** The address of the SQL page with a statement; it runs there unless `run` is false. */
export function sqlLink(sql, { parameters = {}, run = true } = {}) {
  const own = Object.entries(parameters).map(([name, value]) => [`p.${name}`, value]);
  return fragment("/sql", { sql, ...Object.fromEntries(own), run: run ? "1" : null });
}

/** The address of a view, table, function or setting on the page of views. */
export function viewLink(name) {
  return fragment("/views", { name });
}

/** The address of the timeline with one event selected. */
export function eventLink(trace, event) {
  return fragment("/timeline", { trace, event_id: event });
}

/** The address of the timeline with an area selected; times are absolute, in nanoseconds. */
export function areaLink(trace, start, end) {
  return fragment("/timeline", { trace, start_ns: start, end_ns: end });
}

/** The address of the timeline with the rows of a statement as a track. */
export function trackLink(sql) {
  return fragment("/timeline", { track_sql: sql });
}

const EVENT = ["event_id", "launch_id", "op_id"];
const START = ["ts_ns", "start_ns"];
const LENGTH = ["dur_ns", "duration_ns"];

/**
 * How rows of a result can be found in the timeline: a function of a row that gives an address or
 * null; null if no row can be found. `traces` are those of /api/state.
 */
export function locator(columns, traces) {
  const at = new Map(columns.map((c, i) => [c.name, i]));
  const has = (name) => at.has(name);
  const trace = ["trace_id", "cand_trace_id"].find(has);
  if (!trace && traces.length !== 1) return null;
  const own = (row) => (trace ? row[at.get(trace)] : traces[0].trace_id);

  const ids = [...EVENT, ...columns.map((c) => c.name).filter((n) => n.endsWith("_event_id"))];
  const id = ids.find(has);
  const start = START.find(has);
  const [length, end] = [LENGTH.find(has), has("end_ns") ? "end_ns" : undefined];
  if (!id && !(start && (length || end))) return null;

  return (row) => {
    const name = own(row);
    if (name === null) return null;
    if (id && row[at.get(id)] !== null) return eventLink(name, row[at.get(id)]);
    if (!start) return null;
    return stretch(name, row[at.get(start)], row[at.get(length)], row[at.get(end)]);
  };
}

// The area of a row; whole numbers may be texts, and stay exact.
function stretch(trace, start, length, end) {
  if (start === null || (whole(length) === null && whole(end) === null)) return null;
  const from = whole(start);
  if (from === null) return null;
  return areaLink(trace, from, whole(end) ?? from + whole(length));
}

function whole(value) {
  if (value === null || value === undefined) return null;
  return /^-?\d+$/.test(String(value)) ? BigInt(value) : null;
}

/** The address of the page of stacks with those of a statement. */
export function stacksLink(sql) {
  return fragment("/stacks", { stack_sql: sql });
}

/** Whether the rows of a result can be a track of the timeline. */
export function canBeTrack(columns) {
  const names = columns.map((c) => c.name);
  if (!names.includes("ts_ns")) return false;
  return ["dur_ns", "end_ns", "value"].some((name) => names.includes(name));
}
