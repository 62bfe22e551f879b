-- Computation and communication by step as torch-tb-profiler 0.4.3 counts them, in microseconds.
--
-- For comparison with old screenshots; step_overlap is the view for today's traces.
--
-- Source: torch-tb-profiler 0.4.3, to the last digit, except for the order of float sums and for
--   the odd traces named in docs/tensorboard.md.
-- Example: SELECT step, communication_us, overlap_us FROM tb_step_overlap ORDER BY ordinal
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column ordinal BIGINT id Number of the row from 0; step numbers can occur twice.
-- @column step BIGINT id Number of the step.
-- @column computation_us DOUBLE us Computation.
-- @column communication_us DOUBLE us Communication.
-- @column overlap_us DOUBLE us Overlapping.
-- @column other_us DOUBLE us Other.
WITH computing AS (
    SELECT
        trace_id,
        CASE WHEN max(CASE WHEN role = 0 THEN 1 ELSE 0 END) = 1 THEN 1 ELSE 64 END AS bit
    FROM _tb_role_ranges
    GROUP BY trace_id
),
parts AS (
    SELECT
        o.trace_id, o.ordinal,
        sum(o.len_us) FILTER (WHERE o.mask & c.bit > 0) AS computation_us,
        sum(o.len_us) FILTER (WHERE o.mask & 8 > 0) AS communication_us,
        sum(o.len_us) FILTER (WHERE o.mask & c.bit > 0 AND o.mask & 8 > 0) AS overlap_us
    FROM _tb_role_overlaps o
    JOIN computing c ON c.trace_id = o.trace_id
    GROUP BY o.trace_id, o.ordinal
)
SELECT
    s.trace_id, t.rank,
    s.ordinal, s.step,
    coalesce(p.computation_us, 0.0) AS computation_us,
    coalesce(p.communication_us, 0.0) AS communication_us,
    coalesce(p.overlap_us, 0.0) AS overlap_us,
    s.end_us
        - s.start_us
        + coalesce(p.overlap_us, 0.0)
        - coalesce(p.computation_us, 0.0)
        - coalesce(p.communication_us, 0.0) AS other_us
FROM _tb_steps s
JOIN traces t ON t.trace_id = s.trace_id
LEFT JOIN parts p ON p.trace_id = s.trace_id AND p.ordinal = s.ordinal
