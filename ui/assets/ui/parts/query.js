// Statements run by the server: each has an id, by which it can be cancelled.
import { api } from "../base/session.js";

/** Rows of a result that a page holds at most, and bytes. */
export const MAX_ROWS = 10000;
const MAX_BYTES = 16 * 2 ** 20;

/**
 * Runs a statement: { answer, cancel }. `answer` is a promise of the result as /api/query gives it;
 * `cancel` stops the work in the server too.
 */
export function startQuery(sql, { parameters = {}, max_rows = MAX_ROWS } = {}) {
  const id = crypto.randomUUID();
  const stop = new AbortController();
  const body = { id, sql, parameters, max_rows, max_bytes: MAX_BYTES };
  const answer = api("/api/query", body, { signal: stop.signal });
  const cancel = () => {
    api("/api/cancel", { id }).catch(() => {});
    stop.abort();
  };
  return { answer, cancel };
}

/** The rows of a statement as objects, for the pages' own queries. */
export async function rowsOf(sql, options) {
  const { columns, rows } = await startQuery(sql, options).answer;
  return rows.map((row) => Object.fromEntries(columns.map((c, i) => [c.name, row[i]])));
}

/** A text as a literal of SQL. */
export function literal(text) {
  return `'${String(text).replaceAll("'", "''")}'`;
}
