-- GPU summary as torch-tb-profiler 0.4.3 shows it.
--
-- For comparison with old screenshots; gpu_summary is the view for today's traces.
--
-- Source: torch-tb-profiler 0.4.3, to the last digit, except for the order of float sums and for
--   the odd traces named in docs/tensorboard.md.
-- Example: SELECT device, utilization, sm_efficiency FROM tb_gpu_summary
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column device BIGINT id Device that ran a kernel.
-- @column utilization DOUBLE ratio GPU Utilization.
-- @column sm_efficiency DOUBLE ratio Est. SM Efficiency; NULL if not recorded.
-- @column occupancy_pct DOUBLE pct Est. Achieved Occupancy; NULL if not recorded.
-- @column tc_ratio DOUBLE ratio Kernel Time using Tensor Cores: of the kernels that operators
--   launched; NULL if they launched none.
WITH levels AS (
    SELECT
        trace_id, device,
        min(start_us) FILTER (WHERE in_steps) AS start_us,
        max(end_us) FILTER (WHERE in_steps) AS end_us,
        coalesce(sum(len_us) FILTER (WHERE running > 0 AND in_steps), 0.0) AS kernel_us,
        sum(sm_level * len_us) FILTER (WHERE has_blocks AND in_steps) AS sm_us
    FROM _tb_gpu_segments
    GROUP BY trace_id, device
),
owners AS (
    SELECT
        trace_id, event_id, is_launch,
        parent_value(event_id, owner_id, CAST(is_listed AND NOT loses AS BIGINT))
            OVER (
                PARTITION BY trace_id ORDER BY tid, start_tick, end_tick DESC, is_launch, event_id
            )
                = 1 AS by_operator
    FROM _tb_tree
),
work AS (
    SELECT
        w.trace_id, w.device, w.occupancy_pct, w.end_us - w.start_us AS dur_us, w.uses_tensor_cores,
        w.start_us, w.end_us,
        coalesce(o.by_operator, false) AS by_operator
    FROM _tb_work w
    LEFT JOIN owners o ON o.trace_id = w.trace_id AND o.event_id = w.launch_id AND o.is_launch = 1
    WHERE w.kind = 'kernel'
),
clipped AS (
    SELECT
        w.*, l.start_us AS from_us, l.end_us AS until_us, l.kernel_us, l.sm_us,
        least(w.end_us, l.end_us) - greatest(w.start_us, l.start_us) AS len_us
    FROM work w
    JOIN levels l ON l.trace_id = w.trace_id AND l.device = w.device
),
kernel AS (
    SELECT
        trace_id, device, kernel_us, sm_us, until_us - from_us AS steps_us,
        sum(occupancy_pct * len_us) FILTER (WHERE len_us > 0 AND occupancy_pct >= 0)
            / nullif(
                sum(len_us) FILTER (WHERE len_us > 0 AND occupancy_pct >= 0), 0.0
            ) AS occupancy_pct,
        coalesce(sum(dur_us) FILTER (WHERE by_operator), 0.0) AS operator_us,
        coalesce(
            sum(dur_us) FILTER (WHERE by_operator AND uses_tensor_cores), 0.0
        ) AS tensor_core_us,
        sum(count(*) FILTER (WHERE by_operator)) OVER (PARTITION BY trace_id) AS operator_kernels
    FROM clipped
    GROUP BY trace_id, device, kernel_us, sm_us, from_us, until_us
)
SELECT
    k.trace_id, t.rank, k.device,
    k.kernel_us / nullif(k.steps_us, 0.0) AS utilization,
    k.sm_us / nullif(k.steps_us, 0.0) AS sm_efficiency,
    k.occupancy_pct,
    CASE
        WHEN k.operator_kernels > 0
            THEN coalesce(k.tensor_core_us / nullif(k.operator_us, 0.0), 0.0)
    END AS tc_ratio
FROM kernel k
JOIN traces t ON t.trace_id = k.trace_id
