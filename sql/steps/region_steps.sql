-- Regions of the program by step: calls and time of each region in each step.
--
-- What counts as a region is described in regions. Calls outside of steps have a NULL step.
--
-- Example: SELECT step, name, calls, host_total_ns FROM region_steps
--   ORDER BY step, host_total_ns DESC LIMIT 8
-- Holds: host_self_ns <= host_total_ns
-- Range: sum host_total_ns, host_self_ns, device_total_ns
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column step BIGINT id Step in which the calls begin; NULL outside steps.
-- @column name VARCHAR text Name of the region.
-- @column calls BIGINT count Number of calls.
-- @column host_total_ns BIGINT ns Sum of their durations.
-- @column host_self_ns BIGINT ns The same without regions inside.
-- @column mean_ns DOUBLE ns Mean duration of a call.
-- @column device_total_ns BIGINT ns Device time launched inside the calls.
-- @column to_mean_ratio DOUBLE ratio host_total_ns by the mean of the region over all its steps;
--   NULL outside steps or if that is 0.
SELECT
    r.trace_id, t.rank, r.step, r.name,
    count(*) AS calls,
    sum(r.dur_ns) AS host_total_ns,
    sum(r.self_ns) AS host_self_ns,
    avg(r.dur_ns) AS mean_ns,
    coalesce(sum(r.device_total_ns), 0) AS device_total_ns,
    CASE WHEN r.step IS NOT NULL
        THEN sum(r.dur_ns) / nullif(
            avg(CASE WHEN r.step IS NOT NULL THEN sum(r.dur_ns) END)
                OVER (PARTITION BY r.trace_id, r.name),
            0
        )
    END AS to_mean_ratio
FROM _region_calls r
JOIN traces t ON t.trace_id = r.trace_id
GROUP BY r.trace_id, t.rank, r.step, r.name
