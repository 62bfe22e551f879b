-- Step times of two traces side by side: the mean step, its parts and the differences.
--
-- One row per pair of compare_pairs and part of step_time_average; the part total is the whole
-- step, and the others add up to it.
--
-- Source: step_time_average.
-- Example: SELECT part, base_ns, cand_ns, delta_ns FROM step_time_diff ORDER BY abs(delta_ns) DESC
--   LIMIT 5
-- Holds: abs(delta_ns - (cand_ns - base_ns)) < 0.001
-- Range: any delta_ns; a difference.
-- Range: any delta_pct; a difference as percent of the base, which may be small.
--
-- @scope store
-- @column base_trace_id VARCHAR text The trace compared with.
-- @column cand_trace_id VARCHAR text The trace that is compared.
-- @column trace_id VARCHAR text The same as cand_trace_id.
-- @column part VARCHAR text total, kernel, memcpy, memset, communication, runtime, dataloader,
--   cpu_exec or other.
-- @column base_ns DOUBLE ns Mean time per step in the base.
-- @column cand_ns DOUBLE ns Mean time per step in the candidate.
-- @column delta_ns DOUBLE ns Candidate less base.
-- @column delta_pct DOUBLE pct The same as percent of the base; NULL if that is 0.
WITH parts AS (
    SELECT
        trace_id,
        unnest(
            make_array(
                'total', 'kernel', 'memcpy', 'memset', 'communication', 'runtime', 'dataloader',
                'cpu_exec', 'other'
            )
        ) AS part,
        unnest(
            make_array(
                total_ns, kernel_ns, memcpy_ns, memset_ns, communication_ns, runtime_ns,
                dataloader_ns, cpu_exec_ns, other_ns
            )
        ) AS ns
    FROM step_time_average
)
SELECT
    p.base_trace_id, p.cand_trace_id, p.trace_id, b.part, b.ns AS base_ns, c.ns AS cand_ns,
    c.ns - b.ns AS delta_ns,
    100.0 * (c.ns - b.ns) / nullif(b.ns, 0) AS delta_pct
FROM compare_pairs p
JOIN parts b ON b.trace_id = p.base_trace_id
JOIN parts c ON c.trace_id = p.cand_trace_id AND c.part = b.part
