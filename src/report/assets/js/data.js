// The data of the page, and the part of it that is shown.

export const DATA = JSON.parse(document.getElementById("data").textContent);

export const TRACES = DATA.traces;

export const state = { trace: 0, tab: "overview", item: "" };

export function section(key) {
  return DATA.sections[key];
}

const kept = new Map();

// The rows of a section for a trace, as objects.
export function rows(key, trace = state.trace) {
  const name = `${key}/${trace}`;
  if (!kept.has(name)) {
    // Frames of stacks have numbers of names.
    const { columns, rows, names } = section(key);
    const value = (c, v) => (names && c.name === "name" ? names[v] : v);
    const object = (row) => Object.fromEntries(columns.map((c, i) => [c.name, value(c, row[i])]));
    kept.set(name, rows.filter((row) => row[0] === trace).map(object));
  }
  return kept.get(name);
}

// The rows of a section for all traces.
export function allRows(key) {
  return TRACES.flatMap((_, trace) => rows(key, trace));
}

export function rest(key, trace = state.trace) {
  return section(key).rest.find((r) => r.trace_id === TRACES[trace].trace_id);
}

// Why a trace has no rows: { status, reason }, or undefined if it has some.
export function missing(key, trace = state.trace) {
  const { status, error, missing } = section(key);
  if (status === "failed") return { status, reason: error };
  return missing.find((m) => m.trace_id === TRACES[trace].trace_id);
}

export function isApplicable(key, trace = state.trace) {
  const why = missing(key, trace);
  return !why || why.status !== "not_applicable";
}

export function traceName(trace) {
  const name = trace.path.split("/").pop() || trace.trace_id;
  return trace.rank === null ? name : `${name} · rank ${trace.rank}`;
}

export function deviceName(row) {
  const device = row.device;
  if (row.device_type === undefined) return device === null ? "device" : `device ${device}`;
  return device === null || device < 0 ? String(row.device_type) : `${row.device_type}:${device}`;
}
