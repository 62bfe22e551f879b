// Statements that the timeline asks for, and the way to the page where they can be changed.
export { sqlLink } from "../parts/links.js";

/** A text as a literal of SQL. */
export const literal = (text) => `'${String(text).replaceAll("'", "''")}'`;

/**
 * The next event with a duration on the track of an event, or the one before. `ts` is the absolute
 * time in nanoseconds as BigInt. Events of one instant follow each other by their number.
 */
export function neighbourSql(traceId, trackId, ts, eventId, isNext) {
  const [than, order] = isNext ? [">", "ASC"] : ["<", "DESC"];
  return [
    "SELECT event_id FROM events",
    `WHERE trace_id = ${literal(traceId)} AND track_id = ${BigInt(trackId)}`,
    "  AND dur_ns IS NOT NULL AND depth IS NOT NULL",
    `  AND (ts_ns ${than} ${ts} OR (ts_ns = ${ts} AND event_id ${than} ${BigInt(eventId)}))`,
    `ORDER BY ts_ns ${order}, event_id ${order} LIMIT 1`,
  ].join("\n");
}

/** The category of each name; names with several ones have "several". */
export const CATEGORY_SQL = [
  "SELECT name, CASE WHEN min(cat) = max(cat) THEN min(cat)",
  "       WHEN min(cat) IS NULL THEN 'none' ELSE 'several' END AS category, count(*) AS events",
  "FROM events WHERE dur_ns IS NOT NULL GROUP BY name ORDER BY events DESC LIMIT 10000",
].join("\n");
