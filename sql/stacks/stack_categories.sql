-- Where host time goes, by category of events.
--
-- self_ns is time in events of the category and in none that they call, so it adds up to the busy
-- time of all threads; self_pct adds up to 100 over a trace.
--
-- Source: stack_frames; what torch2pprof's `analyze` lists by category, without counting time
--   twice.
-- Example: SELECT cat, calls, self_ns, self_pct FROM stack_categories ORDER BY self_ns DESC
-- Holds: abs(sum(self_pct) OVER (PARTITION BY trace_id) - 100) < 0.000001
-- Parts: self_ns BY trace_id OF stack_frames.self_ns
-- Range: sum self_ns
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column cat VARCHAR text Category; NULL if none.
-- @column names BIGINT count Number of different names.
-- @column calls BIGINT count Number of events.
-- @column self_ns BIGINT ns Time without children.
-- @column self_pct DOUBLE pct self_ns as percent of all self_ns of the trace; NULL if there is
--   none.
SELECT
  trace_id, cat, count(*) AS names, sum(calls) AS calls, sum(self_ns) AS self_ns,
  100.0 * sum(self_ns) / NULLIF(sum(sum(self_ns)) OVER (PARTITION BY trace_id), 0) AS self_pct
FROM stack_frames
GROUP BY trace_id, cat
