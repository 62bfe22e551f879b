-- Share of communication that runs next to computation, as Holistic Trace Analysis 0.6.1 has it.
--
-- Types are those of the ruleset hta_0_6, rows those that HTA keeps: whole microseconds, without
-- the last step.
--
-- Source: get_comm_comp_overlap of HTA 0.6.1; rank_communication has classes of kernels and exact
--   times.
-- Example: SELECT rank, comp_comm_overlap_pct FROM hta_comm_comp_overlap ORDER BY rank
-- Range: any comp_comm_overlap_pct; an event below 1 us can have a duration of -1.
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column comp_comm_overlap_pct DOUBLE pct Percent of the time in communication, two decimals; NULL
--   without communication.
WITH sums AS (
    SELECT
        trace_id,
        sum(sum_us) FILTER (
            WHERE contains(kernel_type, 'COMPUTATION') AND contains(kernel_type, 'COMMUNICATION')
        ) AS both_us
    FROM hta_kernel_type_breakdown
    GROUP BY trace_id
),
communication AS (
    SELECT
        trace_id,
        sum(end_us - start_us) FILTER (WHERE work_type = 'COMMUNICATION') AS communication_us
    FROM _hta_islands
    GROUP BY trace_id
)
SELECT
    c.trace_id, t.rank,
    round(100.0 * coalesce(s.both_us, 0) / nullif(c.communication_us, 0), 2)
        AS comp_comm_overlap_pct
FROM communication c
LEFT JOIN sums s ON s.trace_id = c.trace_id
JOIN traces t ON t.trace_id = c.trace_id
