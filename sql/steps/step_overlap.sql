-- Computation, communication and their overlap, by step.
--
-- Steps and collectives are those of step_time. Computation is the time in other kernels and in
-- fills, as in gpu_timeline, or in operators where the trace has no kernels; operators that only
-- hand work to a collective (c10d::…, record_param_comms) do not count.
--
-- Source: the distributed view of torch-tb-profiler 0.4.3, which knows ten collectives only;
--   tb_step_overlap has its numbers.
-- Example: SELECT step, communication_ns, overlap_ns FROM step_overlap ORDER BY step
-- Holds: total_ns = computation_ns + communication_ns - overlap_ns + other_ns
-- Holds: exposed_communication_ns = communication_ns - overlap_ns
-- Parts: total_ns BY trace_id, step OF step_time.total_ns
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column step BIGINT id Number of the step; NULL if the trace has no steps.
-- @column total_ns BIGINT ns Length of the step.
-- @column computation_ns BIGINT ns Time in which computation ran.
-- @column communication_ns BIGINT ns Time in which a collective ran.
-- @column overlap_ns BIGINT ns Time in which both did.
-- @column exposed_communication_ns BIGINT ns communication_ns - overlap_ns.
-- @column other_ns BIGINT ns Time in which neither did.
WITH computing AS (
    SELECT t.trace_id, CASE WHEN k.trace_id IS NOT NULL THEN 5 ELSE 64 END AS bits
    FROM traces t
    LEFT JOIN (SELECT DISTINCT trace_id FROM kernels WHERE kind = 'kernel' AND dur_ns > 0) k
        ON k.trace_id = t.trace_id
),
parts AS (
    SELECT
        o.trace_id, o.ordinal,
        sum(o.len_ns) FILTER (WHERE o.mask & c.bits > 0) AS computation_ns,
        sum(o.len_ns) FILTER (WHERE o.mask & 8 > 0) AS communication_ns,
        sum(o.len_ns) FILTER (WHERE o.mask & c.bits > 0 AND o.mask & 8 > 0) AS overlap_ns
    FROM _role_overlaps o
    JOIN computing c ON c.trace_id = o.trace_id
    GROUP BY o.trace_id, o.ordinal
)
SELECT
    s.trace_id, t.rank,
    CASE WHEN s.is_marked THEN s.step END AS step,
    s.end_ns - s.start_ns AS total_ns,
    coalesce(p.computation_ns, 0) AS computation_ns,
    coalesce(p.communication_ns, 0) AS communication_ns,
    coalesce(p.overlap_ns, 0) AS overlap_ns,
    coalesce(p.communication_ns, 0) - coalesce(p.overlap_ns, 0) AS exposed_communication_ns,
    s.end_ns
        - s.start_ns
        + coalesce(p.overlap_ns, 0)
        - coalesce(p.computation_ns, 0)
        - coalesce(p.communication_ns, 0) AS other_ns
FROM _steps s
JOIN traces t ON t.trace_id = s.trace_id
LEFT JOIN parts p ON p.trace_id = s.trace_id AND p.ordinal = s.ordinal
