-- Advice for each trace: what takes more time or memory than it should, with the figure, the limit
-- and what to try.
--
-- A row is a rule whose condition holds. A trace without rows meets all limits, or lacks the
-- information (see coverage). The rules and limits are those of the plugin's overview; settings
-- change the limits. applies is false where the plugin would give the advice but figures here speak
-- against it: its list of kernels that use tensor cores ends with Ampere, so it recommends mixed
-- precision to runs that have it.
--
-- Source: the recommendations of torch-tb-profiler 0.4.3.
-- Example: SELECT rule, value, threshold, advice FROM recommendations WHERE applies
--   ORDER BY position
-- Holds: unit <> 'pct' OR value BETWEEN 0 AND 100.000001
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column position BIGINT number Order in which the plugin lists them.
-- @column rule VARCHAR text dataloader, data_parallel, ddp_backend, communication, gpu_utilization,
--   tensor_cores or memory_limit.
-- @column device BIGINT id Device that it is about; NULL for the whole trace.
-- @column value DOUBLE number What was measured.
-- @column threshold DOUBLE number The limit.
-- @column unit VARCHAR text Unit of both.
-- @column finding VARCHAR text What was found.
-- @column advice VARCHAR text What to try.
-- @column applies BOOLEAN flag False if other figures speak against it.
-- @column source VARCHAR text View that the value is from.
WITH marks AS (
    SELECT
        trace_id,
        bool_or(name = 'DataParallel.forward') AS use_dp,
        bool_or(name = 'DistributedDataParallel.forward') AS use_ddp,
        bool_or(starts_with(name, 'nccl:') OR name = 'record_param_comms') AS has_nccl
    FROM events
    WHERE cat IN ('cpu_op', 'user_annotation', 'Operator', 'operator')
    GROUP BY trace_id
),
capabilities AS (
    SELECT
        trace_id,
        max(CASE WHEN device = 0 THEN compute_major END) AS first_major,
        max(compute_major * 10 + compute_minor) AS best_capability
    FROM devices
    GROUP BY trace_id
),
found AS (
    SELECT
        trace_id, position, rule,
        CAST(NULL AS BIGINT) AS device,
        value, threshold,
        'pct' AS unit,
        finding, advice,
        true AS applies,
        'step_time_average' AS source
    FROM (
        SELECT
            trace_id,
            unnest(make_array(1, 4)) AS position,
            unnest(make_array('dataloader', 'communication')) AS rule,
            unnest(make_array(dataloader_pct, communication_pct)) AS value,
            unnest(
                make_array(setting('advice_dataloader_pct'), setting('advice_communication_pct'))
            ) AS threshold,
            unnest(
                make_array('of the mean step is data loading', 'of the mean step is communication')
            ) AS finding,
            unnest(make_array(
                'Load data in worker processes: raise num_workers of the DataLoader, '
                    || 'and use pin_memory and persistent_workers.',
                'Compress gradients (DDP communication hooks), '
                    || 'accumulate them over several batches, '
                    || 'or raise the batch size; with large batches try LAMB.'
            )) AS advice
        FROM step_time_average
    )
    WHERE value > threshold
    UNION ALL
    SELECT
        o.trace_id, 2, 'data_parallel', NULL,
        CAST(o.devices_used AS DOUBLE),
        1.0, 'count',
        'GPUs are used through DataParallel',
        'Use DistributedDataParallel, one process per GPU: '
            || 'it is faster than DataParallel even on one machine.',
        true, 'overview'
    FROM overview o
    JOIN marks m ON m.trace_id = o.trace_id
    WHERE m.use_dp AND o.devices_used > 1
    UNION ALL
    SELECT
        m.trace_id, 3, 'ddp_backend', NULL, c.best_capability / 10.0, 3.5, 'number',
        'is the compute capability, but DistributedDataParallel does not use NCCL',
        'Use the NCCL backend for DistributedDataParallel on GPUs.', true, 'devices'
    FROM marks m
    JOIN capabilities c ON c.trace_id = m.trace_id
    WHERE m.use_ddp AND NOT m.has_nccl AND c.best_capability >= 35
    UNION ALL
    SELECT
        trace_id, 5, 'gpu_utilization', device, utilization_pct,
        setting('advice_gpu_utilization_pct'),
        'pct',
        'of the steps'' time a kernel runs on the GPU',
        'Give the GPU more to do: raise the batch size; '
            || 'see what the host waits for in cpu_gpu_sync.',
        true, 'gpu_summary'
    FROM gpu_summary
    WHERE utilization_pct < setting('advice_gpu_utilization_pct')
    UNION ALL
    SELECT
        t.trace_id, 6, 'tensor_cores', NULL, t.eligible_operators_pct, 0.0, 'pct',
        'of kernel time is launched by operators that can use tensor cores, and none of it does',
        'Use automatic mixed precision (torch.autocast), with sizes that are multiples of 8.',
        coalesce(t.used_max_pct, 0) = 0, 'tensor_core_time'
    FROM tensor_core_time t
    JOIN capabilities c ON c.trace_id = t.trace_id
    JOIN tb_tensor_core_time b ON b.trace_id = t.trace_id
    WHERE c.first_major >= 7
        AND coalesce(b.used_ratio, 0.0) = 0.0
        AND t.kernel_ns > 0
        AND t.eligible_operators_pct > 0
    UNION ALL
    SELECT
        trace_id, 7, 'memory_limit', device, peak_pct, setting('advice_memory_pct'), 'pct',
        'of the device''s memory was allocated at the peak',
        'Memory is close to its limit: checkpoint activations, use mixed precision, '
            || 'or lower the batch size; peak_composition says what held it.',
        true, 'memory_peak'
    FROM memory_peak
    WHERE peak_pct > setting('advice_memory_pct')
)
-- DISTINCT removes nothing. It prevents the planner from treating the constants of each part as an
-- order of the whole.
SELECT
    f.trace_id, t.rank, f.position, f.rule, f.device, f.value, f.threshold, f.unit,
    concat(round(f.value, 1), CASE f.unit WHEN 'pct' THEN ' % ' ELSE ' ' END, f.finding) AS finding,
    f.advice, f.applies, f.source
FROM (SELECT DISTINCT * FROM found) f
JOIN traces t ON t.trace_id = f.trace_id
