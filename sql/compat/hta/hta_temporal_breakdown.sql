-- Time of each rank's devices in computation, in other work and idle, as Holistic Trace Analysis
-- 0.6.1 has it.
--
-- All devices and streams of a trace are one timeline, from the first start to the last end. Work
-- that runs next to computation counts as computation. Types are those of the ruleset hta_0_6, rows
-- those that HTA keeps: whole microseconds, without the last step.
--
-- Source: get_temporal_breakdown of HTA 0.6.1; gpu_timeline has the same question with classes of
--   kernels, exact times and exposed communication and copies.
-- Example: SELECT rank, idle_time_us, compute_time_us, non_compute_time_us, kernel_time_us
--   FROM hta_temporal_breakdown ORDER BY rank
-- Range: any idle_time_us, compute_time_us, non_compute_time_us, kernel_time_us, idle_time_pct,
--   compute_time_pct, non_compute_time_pct; HTA also counts work whose time was not set.
-- Holds: idle_time_us + compute_time_us + non_compute_time_us = kernel_time_us
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column idle_time_us BIGINT us Time in which nothing runs.
-- @column compute_time_us BIGINT us Time in which computation runs.
-- @column non_compute_time_us BIGINT us Time in which other work runs and no computation.
-- @column kernel_time_us BIGINT us From the first start to the last end.
-- @column idle_time_pct DOUBLE pct Percent of kernel_time_us, two decimals.
-- @column compute_time_pct DOUBLE pct Percent of kernel_time_us, two decimals.
-- @column non_compute_time_pct DOUBLE pct Percent of kernel_time_us, two decimals.
WITH sums AS (
    SELECT
        trace_id,
        max(end_us) FILTER (WHERE work_type = 'ALL')
            - min(start_us) FILTER (WHERE work_type = 'ALL') AS kernel_us,
        sum(end_us - start_us) FILTER (WHERE work_type = 'ALL') AS busy_us,
        coalesce(sum(end_us - start_us) FILTER (WHERE work_type = 'COMPUTATION'), 0) AS compute_us
    FROM _hta_islands
    GROUP BY trace_id
)
SELECT
    s.trace_id, t.rank,
    s.kernel_us - s.busy_us AS idle_time_us,
    s.compute_us AS compute_time_us,
    s.busy_us - s.compute_us AS non_compute_time_us,
    s.kernel_us AS kernel_time_us,
    round(100.0 * (s.kernel_us - s.busy_us) / nullif(s.kernel_us, 0), 2) AS idle_time_pct,
    round(100.0 * s.compute_us / nullif(s.kernel_us, 0), 2) AS compute_time_pct,
    round(100.0 * (s.busy_us - s.compute_us) / nullif(s.kernel_us, 0), 2) AS non_compute_time_pct
FROM sums s
JOIN traces t ON t.trace_id = s.trace_id
