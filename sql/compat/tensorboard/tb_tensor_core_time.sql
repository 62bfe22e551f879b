-- Tensor core ratios of torch-tb-profiler 0.4.3: the pie chart of its kernel view, and the base of
-- its advice to use mixed precision.
--
-- For comparison with old screenshots; tensor_core_time is the view for today's traces.
--
-- Source: torch-tb-profiler 0.4.3, to the last digit, except for the order of float sums and for
--   the odd traces named in docs/tensorboard.md.
-- Example: SELECT used_ratio, eligible_ratio FROM tb_tensor_core_time
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column used_ratio DOUBLE ratio Share of kernel time in kernels that use tensor cores; NULL
--   without kernels other than communication.
-- @column eligible_ratio DOUBLE ratio Share of operators' kernel time launched by the innermost
--   operators that could use tensor cores.
WITH used AS (
    SELECT
        trace_id,
        sum(CASE WHEN uses_tensor_cores THEN dur_us ELSE 0.0 END)
            / nullif(sum(dur_us), 0.0) AS used_ratio
    FROM _tb_work
    WHERE kind = 'kernel'
    GROUP BY trace_id
    HAVING bool_or(NOT communicates)
),
operators AS (
    SELECT
        trace_id,
        sum(call_kernel_us) FILTER (WHERE is_listed) AS operator_us,
        sum(call_kernel_us) FILTER (
            WHERE call_eligible > 0 AND eligible_nodes = call_eligible
        ) AS eligible_us
    FROM _tb_tree
    WHERE is_launch = 0 AND call_id = event_id
    GROUP BY trace_id
)
SELECT
    t.trace_id, t.rank, u.used_ratio,
    coalesce(o.eligible_us / nullif(o.operator_us, 0.0), 0.0) AS eligible_ratio
FROM traces t
LEFT JOIN used u ON u.trace_id = t.trace_id
LEFT JOIN operators o ON o.trace_id = t.trace_id
