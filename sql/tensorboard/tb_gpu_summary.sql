-- GPU summary as torch-tb-profiler 0.4.3 shows it.
--
-- For comparison with old screens; gpu_summary is the view for today's traces.
--
-- Source: torch-tb-profiler 0.4.3.
-- Example: SELECT device, utilization, sm_efficiency FROM tb_gpu_summary
--
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column device BIGINT id Device that ran a kernel.
-- @column utilization DOUBLE ratio GPU Utilization.
-- @column sm_efficiency DOUBLE ratio Est. SM Efficiency; NULL if not recorded.
-- @column occupancy_pct DOUBLE pct Est. Achieved Occupancy; NULL if not recorded.
-- @column tc_ratio DOUBLE ratio Kernel Time using Tensor Cores: of the kernels that operators launched; NULL if they launched none.
WITH ends AS (
    SELECT trace_id, min(start_us) AS start_us, last_value(end_us ORDER BY ordinal) AS end_us FROM _tb_steps GROUP BY trace_id
),
levels AS (
    SELECT
        trace_id, device,
        coalesce(sum(len_us) FILTER (WHERE running > 0 AND in_steps), 0.0) AS kernel_us,
        sum(sm_level * len_us) FILTER (WHERE has_blocks AND in_steps) AS sm_us
    FROM _tb_gpu_segments
    GROUP BY trace_id, device
),
owners AS (
    SELECT
        trace_id, event_id, is_launch,
        parent_value(event_id, owner_id, CAST(is_listed AND NOT loses AS BIGINT))
            OVER (PARTITION BY trace_id ORDER BY tid, start_tick, end_tick DESC, is_launch, event_id) = 1 AS by_operator
    FROM _tb_tree
),
work AS (
    SELECT
        w.trace_id, w.device, w.occupancy_pct, w.end_us - w.start_us AS dur_us, w.uses_tensor_cores,
        least(w.end_us, e.end_us) - greatest(w.start_us, e.start_us) AS len_us,
        coalesce(o.by_operator, false) AS by_operator
    FROM _tb_work w
    JOIN ends e ON e.trace_id = w.trace_id
    LEFT JOIN owners o ON o.trace_id = w.trace_id AND o.event_id = w.launch_id AND o.is_launch = 1
    WHERE w.kind = 'kernel'
),
kernel AS (
    SELECT
        trace_id, device,
        sum(occupancy_pct * len_us) FILTER (WHERE len_us > 0 AND occupancy_pct >= 0)
            / nullif(sum(len_us) FILTER (WHERE len_us > 0 AND occupancy_pct >= 0), 0.0) AS occupancy_pct,
        coalesce(sum(dur_us) FILTER (WHERE by_operator), 0.0) AS operator_us,
        coalesce(sum(dur_us) FILTER (WHERE by_operator AND uses_tensor_cores), 0.0) AS tensor_core_us,
        sum(count(*) FILTER (WHERE by_operator)) OVER (PARTITION BY trace_id) AS operator_kernels
    FROM work
    GROUP BY trace_id, device
)
SELECT
    l.trace_id, t.rank, l.device,
    l.kernel_us / nullif(e.end_us - e.start_us, 0.0) AS utilization,
    l.sm_us / nullif(e.end_us - e.start_us, 0.0) AS sm_efficiency,
    k.occupancy_pct,
    CASE WHEN k.operator_kernels > 0 THEN coalesce(k.tensor_core_us / nullif(k.operator_us, 0.0), 0.0) END AS tc_ratio
FROM levels l
JOIN ends e ON e.trace_id = l.trace_id
JOIN kernel k ON k.trace_id = l.trace_id AND k.device = l.device
JOIN traces t ON t.trace_id = l.trace_id
