-- Shares of kernel time that used tensor cores, and that could have used them.
--
-- used_pct covers all kernels. eligible_operators_pct covers kernels launched by operators: the
-- share of their time launched by operators that can run on tensor cores, counting only the
-- innermost such operator.
--
-- Source: torch-tb-profiler 0.4.3, which bases its advice to use mixed precision on the two;
--   tb_tensor_core_time has its list of names, which ends with Ampere.
-- Example: SELECT used_pct, eligible_operators_pct FROM tensor_core_time
-- Holds: tensor_core_ns + unclear_ns <= kernel_ns AND eligible_ns <= operator_kernel_ns AND
--   operator_kernel_ns <= kernel_ns
-- Range: sum kernel_ns, tensor_core_ns, unclear_ns, operator_kernel_ns, eligible_ns
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column kernel_ns BIGINT ns Sum of the durations of all kernels.
-- @column tensor_core_ns BIGINT ns The part in kernels that run on tensor or matrix cores
--   (kernel_classes).
-- @column used_pct DOUBLE pct tensor_core_ns as percent of kernel_ns; NULL without kernels.
-- @column unclear_ns BIGINT ns The part in kernels for which that is unclear.
-- @column used_max_pct DOUBLE pct used_pct if all of these do.
-- @column operator_kernel_ns BIGINT ns Sum of the durations of kernels launched by operators.
-- @column eligible_ns BIGINT ns The kernels launched by eligible operators that hold no other
--   eligible operator.
-- @column eligible_operators_pct DOUBLE pct eligible_ns as percent of operator_kernel_ns; 0 if that
--   is 0.
WITH used AS (
    SELECT
        d.trace_id,
        coalesce(sum(d.dur_ns) FILTER (WHERE d.kind = 'kernel'), 0) AS kernel_ns,
        coalesce(sum(d.dur_ns) FILTER (WHERE d.uses_tensor_cores), 0) AS tensor_core_ns,
        coalesce(sum(d.dur_ns) FILTER (WHERE d.uses_tensor_cores IS NULL), 0) AS unclear_ns
    FROM _device_work d
    GROUP BY d.trace_id
),
operators AS (
    SELECT
        trace_id,
        coalesce(sum(call_kernel_ns) FILTER (WHERE is_listed), 0) AS operator_kernel_ns,
        coalesce(
            sum(call_kernel_ns) FILTER (WHERE call_eligible > 0 AND eligible_nodes = call_eligible),
            0
        ) AS eligible_ns
    FROM _host_tree
    WHERE is_launch = 0 AND call_id = event_id
    GROUP BY trace_id
)
SELECT
    t.trace_id, t.rank,
    coalesce(u.kernel_ns, 0) AS kernel_ns,
    coalesce(u.tensor_core_ns, 0) AS tensor_core_ns,
    100.0 * u.tensor_core_ns / nullif(u.kernel_ns, 0) AS used_pct,
    coalesce(u.unclear_ns, 0) AS unclear_ns,
    100.0 * (u.tensor_core_ns + u.unclear_ns) / nullif(u.kernel_ns, 0) AS used_max_pct,
    coalesce(o.operator_kernel_ns, 0) AS operator_kernel_ns,
    coalesce(o.eligible_ns, 0) AS eligible_ns,
    coalesce(100.0 * o.eligible_ns / nullif(o.operator_kernel_ns, 0), 0.0) AS eligible_operators_pct
FROM traces t
LEFT JOIN used u ON u.trace_id = t.trace_id
LEFT JOIN operators o ON o.trace_id = t.trace_id
