-- Events by category: count, total time, and time without nested events.
--
-- Only events with a duration of 0 or more count. total_ns counts an event nested in another one of
-- its category twice; self_ns does not: summed over all categories it is the busy time of tracks,
-- except for partial overlaps.
--
-- Example: SELECT cat, events, total_ns, self_pct FROM category_totals ORDER BY self_ns DESC
-- Holds: self_ns <= total_ns
-- Holds: abs(sum(self_pct) OVER (PARTITION BY trace_id) - 100) < 0.000001
-- Holds: min_ns <= mean_ns AND mean_ns <= max_ns
-- Range: sum total_ns, self_ns
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column cat VARCHAR text Category as written; NULL for events without one.
-- @column events BIGINT count Events with a duration.
-- @column total_ns BIGINT ns Sum of their durations.
-- @column self_ns BIGINT ns Sum of their self times.
-- @column self_pct DOUBLE pct self_ns as percent of the sum of self_ns over all categories of the
--   trace; NULL if that is 0.
-- @column min_ns BIGINT ns Shortest duration.
-- @column mean_ns DOUBLE ns Mean duration.
-- @column max_ns BIGINT ns Longest duration.
SELECT
    trace_id,
    cat,
    count(*) AS events,
    sum(dur_ns) AS total_ns,
    sum(self_ns) AS self_ns,
    100.0 * sum(self_ns) / nullif(sum(sum(self_ns)) OVER (PARTITION BY trace_id), 0) AS self_pct,
    min(dur_ns) AS min_ns,
    avg(dur_ns) AS mean_ns,
    max(dur_ns) AS max_ns
FROM events
WHERE dur_ns >= 0
GROUP BY trace_id, cat
