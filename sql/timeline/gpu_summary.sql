-- GPUs: utilization, SM efficiency, occupancy and tensor core use over the steps.
--
-- The steps are those of step_time, from the start of the first to the end of the last. Collectives
-- count as kernels here.
--
-- Source: the GPU summary of torch-tb-profiler 0.4.3, which shows two digits.
-- Example: SELECT device, utilization_pct, sm_efficiency_pct FROM gpu_summary
-- Holds: kernel_ns <= steps_ns
-- Holds: tensor_core_ns <= operator_kernel_ns
-- Range: sum operator_kernel_ns, tensor_core_ns
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column device BIGINT id Device that ran a kernel.
-- @column name VARCHAR text Name of the device; NULL if not recorded.
-- @column total_memory_bytes BIGINT bytes Memory of the device; NULL if not recorded.
-- @column compute_capability VARCHAR text Major and minor compute capability; NULL if not recorded.
-- @column steps_ns BIGINT ns Time from the start of the first step to the end of the last.
-- @column kernel_ns BIGINT ns The part of steps_ns in which at least one kernel ran.
-- @column utilization_pct DOUBLE pct kernel_ns as percent of steps_ns.
-- @column sm_efficiency_pct DOUBLE pct Mean over steps_ns of the blocks per multiprocessor that
--   run, at most 1 each moment, in percent; NULL if not recorded.
-- @column occupancy_pct DOUBLE pct Estimated achieved occupancy of the kernels within steps_ns,
--   weighted by duration; NULL if not recorded.
-- @column operator_kernel_ns BIGINT ns Sum of the kernels launched by operators.
-- @column tensor_core_ns BIGINT ns The part of operator_kernel_ns in kernels that use tensor cores.
-- @column tensor_core_pct DOUBLE pct tensor_core_ns as percent of operator_kernel_ns, 0 if this
--   device ran none; NULL if no operator launched a kernel.
WITH levels AS (
    SELECT
        trace_id, device,
        min(start_ns) FILTER (WHERE in_steps) AS start_ns,
        max(end_ns) FILTER (WHERE in_steps) AS end_ns,
        coalesce(sum(len_ns) FILTER (WHERE running > 0 AND in_steps), 0) AS kernel_ns,
        sum(sm_level * len_ns) FILTER (WHERE has_blocks AND in_steps) AS sm_ns
    FROM _gpu_segments
    GROUP BY trace_id, device
),
work AS (
    SELECT
        trace_id, device, ts_ns, end_ns, occupancy_pct, dur_ns, uses_tensor_cores,
        coalesce(owner_is_listed, false) AS by_operator
    FROM _launched_work
    WHERE kind = 'kernel'
),
clipped AS (
    SELECT
        w.*, l.start_ns,
        l.end_ns AS until_ns,
        l.kernel_ns, l.sm_ns,
        least(w.end_ns, l.end_ns) - greatest(w.ts_ns, l.start_ns) AS len_ns
    FROM work w
    JOIN levels l ON l.trace_id = w.trace_id AND l.device = w.device
),
kernel AS (
    SELECT
        trace_id, device, kernel_ns, sm_ns, until_ns - start_ns AS steps_ns,
        sum(occupancy_pct * len_ns) FILTER (WHERE len_ns > 0 AND occupancy_pct >= 0)
            / nullif(
                sum(len_ns) FILTER (WHERE len_ns > 0 AND occupancy_pct >= 0), 0
            ) AS occupancy_pct,
        coalesce(sum(dur_ns) FILTER (WHERE by_operator), 0) AS operator_kernel_ns,
        coalesce(sum(dur_ns) FILTER (WHERE by_operator AND uses_tensor_cores), 0) AS tensor_core_ns,
        sum(count(*) FILTER (WHERE by_operator)) OVER (PARTITION BY trace_id) AS operator_kernels
    FROM clipped
    GROUP BY trace_id, device, kernel_ns, sm_ns, start_ns, until_ns
)
SELECT
    k.trace_id, t.rank, k.device, v.name, v.total_memory_bytes,
    CAST(v.compute_major AS VARCHAR) || '.' || CAST(v.compute_minor AS VARCHAR)
        AS compute_capability,
    k.steps_ns,
    k.kernel_ns,
    100.0 * k.kernel_ns / nullif(k.steps_ns, 0) AS utilization_pct,
    100.0 * k.sm_ns / nullif(k.steps_ns, 0) AS sm_efficiency_pct,
    k.occupancy_pct, k.operator_kernel_ns, k.tensor_core_ns,
    CASE
        WHEN k.operator_kernels > 0
            THEN coalesce(100.0 * k.tensor_core_ns / nullif(k.operator_kernel_ns, 0), 0.0)
    END AS tensor_core_pct
FROM kernel k
JOIN traces t ON t.trace_id = k.trace_id
LEFT JOIN _device_properties v ON v.trace_id = k.trace_id AND v.device = k.device
