// Where in the timeline a finding is: at the first row of its evidence that has a place, else at
// its step, else at the longest event of a name in the evidence.
import { areaLink, eventLink, locator } from "../parts/links.js";
import { literal, rowsOf, startQuery } from "../parts/query.js";

/** Rows of the evidence that are looked at. */
const LOOKED_AT = 200;
/** Names of events that are looked for. */
const MOST_NAMES = 20;
const NAMES = ["name", "op_name", "kernel_name", "collective", "kernel", "operator"];

/**
 * The address of a finding in the timeline, as { href } or { reason }: why there is none. `traces`
 * are those of /api/state.
 */
export async function placeOfFinding(finding, traces) {
  const { columns, rows } = await startQuery(finding.evidence, { max_rows: LOOKED_AT }).answer;
  if (!rows.length) return { reason: "The evidence has no rows." };
  const own = finding.trace_id ? [{ trace_id: finding.trace_id }] : traces;
  const place = locator(columns, own);
  const href = place && rows.map(place).find(Boolean);
  if (href) return { href };

  const trace = own.length === 1 ? own[0].trace_id : null;
  if (trace === null) return { reason: "The evidence is about several traces, and has no times." };
  const values = (name) => {
    const at = columns.findIndex((c) => c.name === name);
    return at < 0 ? [] : rows.map((row) => row[at]).filter((value) => value !== null);
  };
  const step = finding.step ?? values("step")[0];
  return (
    (await ofStep(trace, step)) ||
    (await ofName(trace, [finding.subject, ...NAMES.flatMap(values)])) || {
      reason: "The evidence is a sum: its columns name neither events nor times.",
    }
  );
}

async function ofStep(trace, step) {
  if (!/^-?\d+$/.test(String(step))) return null;
  const [found] = await rowsOf(
    `SELECT start_ns, end_ns FROM steps WHERE trace_id = ${literal(trace)} AND step = ${step}`,
  );
  return found ? { href: areaLink(trace, found.start_ns, found.end_ns) } : null;
}

async function ofName(trace, all) {
  const names = [...new Set(all.filter((name) => typeof name === "string" && name !== ""))];
  if (!names.length) return null;
  const [found] = await rowsOf(
    `SELECT event_id FROM events WHERE trace_id = ${literal(trace)} AND dur_ns IS NOT NULL ` +
      `AND name IN (${names.slice(0, MOST_NAMES).map(literal).join(", ")}) ` +
      "ORDER BY dur_ns DESC LIMIT 1",
  );
  return found ? { href: eventLink(trace, found.event_id) } : null;
}
