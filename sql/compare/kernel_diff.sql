-- Kernels of two traces side by side: calls, time and the differences.
--
-- One row per pair of compare_pairs and name of a kernel, over all devices; kernels that only one
-- of the two has keep their row.
--
-- Source: requests of users of torch-tb-profiler, whose diff view stops at operators.
-- Example: SELECT name, base_calls, cand_calls, total_delta_ns FROM kernel_diff
--   ORDER BY abs(total_delta_ns) DESC LIMIT 5
-- Holds: total_delta_ns = cand_total_ns - base_total_ns
-- Holds: calls_delta = cand_calls - base_calls
-- Range: sum base_total_ns, cand_total_ns
-- Range: any calls_delta, total_delta_ns; a difference.
-- Range: any calls_delta_pct, total_delta_pct; a difference as percent of the base, which may be
--   small.
--
-- @scope store
-- @column base_trace_id VARCHAR text The trace compared with.
-- @column cand_trace_id VARCHAR text The trace that is compared.
-- @column trace_id VARCHAR text The same as cand_trace_id.
-- @column name VARCHAR text Name of the kernel.
-- @column status VARCHAR text both, removed if only the base has it, or added if only the candidate
--   does.
-- @column base_calls BIGINT count Number of kernels in the base; 0 if it is not there.
-- @column cand_calls BIGINT count Number of kernels in the candidate; 0 if it is not there.
-- @column calls_delta BIGINT count Candidate less base.
-- @column calls_delta_pct DOUBLE pct The same as percent of the base; NULL if that is 0.
-- @column base_total_ns BIGINT ns Sum of their durations in the base; 0 if it is not there.
-- @column cand_total_ns BIGINT ns Sum of their durations in the candidate; 0 if it is not there.
-- @column total_delta_ns BIGINT ns Candidate less base.
-- @column total_delta_pct DOUBLE pct The same as percent of the base; NULL if that is 0.
WITH sides AS (
    SELECT p.base_trace_id, p.cand_trace_id, v.name, 1 AS in_base, 0 AS in_cand,
        v.calls AS base_calls, 0 AS cand_calls, v.total_ns AS base_total_ns, 0 AS cand_total_ns
    FROM compare_pairs p
    JOIN kernels_by_name v ON v.trace_id = p.base_trace_id
    UNION ALL
    SELECT p.base_trace_id, p.cand_trace_id, v.name, 0, 1,
        0, v.calls, 0, v.total_ns
    FROM compare_pairs p
    JOIN kernels_by_name v ON v.trace_id = p.cand_trace_id
),
sums AS (
    SELECT
        base_trace_id, cand_trace_id, name,
        max(in_base) AS in_base, max(in_cand) AS in_cand,
        coalesce(sum(base_calls), 0) AS base_calls, coalesce(sum(cand_calls), 0) AS cand_calls,
        coalesce(sum(base_total_ns), 0) AS base_total_ns,
        coalesce(sum(cand_total_ns), 0) AS cand_total_ns
    FROM sides
    GROUP BY base_trace_id, cand_trace_id, name
)
SELECT
    base_trace_id, cand_trace_id, cand_trace_id AS trace_id, name,
    CASE
        WHEN in_base = 1 AND in_cand = 1 THEN 'both'
        WHEN in_base = 1 THEN 'removed'
        ELSE 'added'
    END AS status,
    base_calls, cand_calls,
    cand_calls - base_calls AS calls_delta,
    100.0 * (cand_calls - base_calls) / nullif(base_calls, 0) AS calls_delta_pct,
    base_total_ns, cand_total_ns,
    cand_total_ns - base_total_ns AS total_delta_ns,
    100.0 * (cand_total_ns - base_total_ns) / nullif(base_total_ns, 0) AS total_delta_pct
FROM sums
