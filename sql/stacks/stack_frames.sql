-- Where host time goes, by name: calls, time without children, and time with all that is called.
--
-- self_ns adds up to the busy time of all threads; self_pct is its share of that, and adds up to
-- 100 over a trace. total_ns counts a call only where no call of the same category and name that
-- has an end is around it, so recursion is not counted twice; total_pct is its share of the same
-- busy time, and over names it adds up to more than 100, since callers hold what they call.
-- gpu_total_ns is the device time launched inside of events of this name, of any category.
--
-- Source: event_stacks and kernel_stacks; what torch2pprof's `analyze` lists, without counting time
--   twice.
-- Example: SELECT cat, name, calls, self_ns, total_ns FROM stack_frames ORDER BY self_ns DESC
--   LIMIT 5
-- Holds: self_ns <= total_ns
-- Holds: abs(sum(self_pct) OVER (PARTITION BY trace_id) - 100) < 0.000001
-- Range: sum self_ns, total_ns, gpu_total_ns
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column cat VARCHAR text Category; NULL if none.
-- @column name VARCHAR text Name.
-- @column calls BIGINT count Number of events.
-- @column self_ns BIGINT ns Time without children.
-- @column self_pct DOUBLE pct self_ns as percent of all self_ns of the trace; NULL if there is
--   none.
-- @column total_ns BIGINT ns Time with children, calls within calls of the same name not counted
--   again.
-- @column total_pct DOUBLE pct total_ns as percent of all self_ns of the trace; NULL if there is
--   none.
-- @column mean_ns DOUBLE ns total_ns divided by the number of calls that it counts.
-- @column gpu_total_ns BIGINT ns Device time launched inside of events of this name.
WITH calls AS (
  SELECT
    trace_id, event_id, cat, name, dur_ns, self_ns,
    nest_depth(ts_ns, end_ns) OVER (
        PARTITION BY trace_id, track_id, cat, name, dur_ns IS NULL
        ORDER BY ts_ns, end_ns DESC, event_id
    )
        = 0 AS is_outermost
  FROM event_stacks
),
frames AS (SELECT trace_id, dur_ns, unnest(array_distinct(stack)) AS name FROM kernel_stacks),
launched AS (SELECT trace_id, name, sum(dur_ns) AS gpu_ns FROM frames GROUP BY trace_id, name),
sums AS (
  SELECT
    c.trace_id, c.cat, c.name, count(*) AS calls, coalesce(sum(c.self_ns), 0) AS self_ns,
    coalesce(sum(c.dur_ns) FILTER (WHERE c.is_outermost), 0) AS total_ns,
    avg(c.dur_ns) FILTER (WHERE c.is_outermost) AS mean_ns
  FROM calls c
  GROUP BY c.trace_id, c.cat, c.name
)
SELECT
  s.trace_id, s.cat, s.name, s.calls, s.self_ns,
  100.0 * s.self_ns / NULLIF(sum(s.self_ns) OVER (PARTITION BY s.trace_id), 0) AS self_pct,
  s.total_ns,
  100.0 * s.total_ns / NULLIF(sum(s.self_ns) OVER (PARTITION BY s.trace_id), 0) AS total_pct,
  s.mean_ns,
  coalesce(l.gpu_ns, 0) AS gpu_total_ns
FROM sums s
LEFT JOIN launched l ON l.trace_id = s.trace_id AND l.name = coalesce(s.name, '(no name)')
