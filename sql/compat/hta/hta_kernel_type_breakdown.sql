-- Time by type of device work, and by types that run at once, as Holistic Trace Analysis 0.6.1 has
-- it.
--
-- HTA adds up all ranks: SELECT kernel_type, sum(sum_us) … GROUP BY kernel_type. The type OTHER is
-- left out. A row of duration -1 is counted backwards, as in HTA, which can make 1 us of types that
-- did not run at once. Types are those of the ruleset hta_0_6, rows those that HTA keeps: whole
-- microseconds, without the last step.
--
-- Source: the first table of get_gpu_kernel_breakdown of HTA 0.6.1; kernel_type_overlaps has
--   classes of kernels, devices and exact times.
-- Example: SELECT kernel_type, sum(sum_us) AS sum_us FROM hta_kernel_type_breakdown
--   GROUP BY kernel_type ORDER BY sum_us DESC
-- Range: sum sum_us
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column kernel_type VARCHAR text COMPUTATION, COMMUNICATION, MEMORY, or several of them joined
--   by " overlapping ".
-- @column sum_us BIGINT us Time in which exactly these types run.
-- @column sum_pct DOUBLE pct Percent of the sum over the trace, one decimal.
WITH weights AS (
    SELECT
        trace_id, start_us, end_us,
        CASE work_type WHEN 'COMPUTATION' THEN 1 WHEN 'COMMUNICATION' THEN 2 ELSE 4 END AS weight
    FROM _hta_islands
    WHERE work_type IN ('COMPUTATION', 'COMMUNICATION', 'MEMORY')
),
changes AS (
    SELECT trace_id, start_us AS at_us, weight FROM weights
    UNION ALL
    SELECT trace_id, end_us, 0 - weight FROM weights
),
instants AS (
    SELECT trace_id, at_us, sum(weight) AS weight FROM changes GROUP BY trace_id, at_us
),
segments AS (
    SELECT
        trace_id,
        running_sum(weight) OVER over_time AS types,
        lead(at_us) OVER over_time - at_us AS length_us
    FROM instants
    WINDOW over_time AS (PARTITION BY trace_id ORDER BY at_us)
),
sums AS (
    SELECT trace_id, types, sum(length_us) AS sum_us
    FROM segments
    WHERE types > 0 AND length_us > 0
    GROUP BY trace_id, types
)
SELECT
    s.trace_id, t.rank,
    concat_ws(
        ' overlapping ',
        CASE WHEN s.types & 1 > 0 THEN 'COMPUTATION' END,
        CASE WHEN s.types & 2 > 0 THEN 'COMMUNICATION' END,
        CASE WHEN s.types & 4 > 0 THEN 'MEMORY' END
    ) AS kernel_type,
    s.sum_us,
    round(100.0 * s.sum_us / sum(s.sum_us) OVER (PARTITION BY s.trace_id), 1) AS sum_pct
FROM sums s
JOIN traces t ON t.trace_id = s.trace_id
