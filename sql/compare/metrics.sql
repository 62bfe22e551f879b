-- Figures of each trace that a gate compares with a baseline: times, counts, shares and peaks, one
-- per row.
--
-- A row is a metric of a trace, and of a subject where the metric has one for each device, part of
-- a step or operator. What was not recorded has no row, so that a figure that is missing on one
-- side is visible. Devices are gpu#1, gpu#2, … by their numbers (cuda#1 in memory), because a job
-- may get other devices each time. All values are over the whole trace unless they say otherwise;
-- sums over traces with different numbers of steps do not compare, which is why steps is a metric
-- too. metric_definitions says more about each:
-- - wall_time, events, skipped_events: the trace
-- - steps, step_time_mean, step_time_median, step_time_max: steps with their device work
-- - step_part_mean: kernel, memcpy, memset, communication, runtime, dataloader, cpu_exec and other
-- - step_exposed_communication_mean: collectives while nothing computes
-- - by device: gpu_utilization, sm_efficiency, occupancy, tensor_core_use, gpu_busy_time,
--   gpu_idle_time, computation_time, communication_time, exposed_communication_time,
--   exposed_memcpy_time, memory_peak, memory_reserved_peak
-- - peak_utilization, model_utilization by device: products by the peak, with and without
--   recomputation (hfu_pct and mfu_pct of step_mfu)
-- - kernel_count, kernel_time, memcpy_count, memcpy_time, memcpy_bytes, memset_time
-- - launch_count, launch_time, unlinked_time: launches on the host and how many were found
-- - sync_time, sync_calls, blocking_copies: waiting of the host for the device
-- - by operator: operator_calls, operator_host_time, operator_device_time
--
-- Example: SELECT metric, subject, value, unit, better FROM metrics WHERE metric LIKE 'step_%'
--   ORDER BY metric, subject
-- Holds: unit <> 'pct' OR value BETWEEN 0 AND 100.000001
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column metric VARCHAR text Name of the metric.
-- @column subject VARCHAR text Device, part of a step or operator; NULL for the whole trace.
-- @column value DOUBLE number Its value, in the unit of the column unit.
-- @column unit VARCHAR text Unit of the value.
-- @column better VARCHAR text lower, higher, or neutral where neither is better in itself.
WITH marked AS (
    SELECT * FROM step_time WHERE step IS NOT NULL
),
step_values AS (
    SELECT
        trace_id,
        count(*) AS steps,
        CAST(sum(total_ns) AS DOUBLE) / count(*) AS mean_ns,
        quantile(total_ns, 0.5) AS median_ns,
        max(total_ns) AS max_ns,
        CAST(sum(kernel_ns) AS DOUBLE) / count(*) AS kernel_ns,
        CAST(sum(memcpy_ns) AS DOUBLE) / count(*) AS memcpy_ns,
        CAST(sum(memset_ns) AS DOUBLE) / count(*) AS memset_ns,
        CAST(sum(communication_ns) AS DOUBLE) / count(*) AS communication_ns,
        CAST(sum(runtime_ns) AS DOUBLE) / count(*) AS runtime_ns,
        CAST(sum(dataloader_ns) AS DOUBLE) / count(*) AS dataloader_ns,
        CAST(sum(cpu_exec_ns) AS DOUBLE) / count(*) AS cpu_exec_ns,
        CAST(sum(other_ns) AS DOUBLE) / count(*) AS other_ns
    FROM marked
    GROUP BY trace_id
),
overlap_values AS (
    SELECT trace_id, CAST(sum(exposed_communication_ns) AS DOUBLE) / count(*) AS exposed_ns
    FROM step_overlap
    WHERE step IS NOT NULL
    GROUP BY trace_id
),
device_values AS (
    SELECT
        trace_id,
        count(*) FILTER (WHERE kind = 'kernel') AS kernels,
        sum(dur_ns) FILTER (WHERE kind = 'kernel') AS kernel_ns,
        count(*) FILTER (WHERE kind = 'memcpy') AS copies,
        coalesce(sum(dur_ns) FILTER (WHERE kind = 'memcpy'), 0) AS memcpy_ns,
        coalesce(sum(bytes) FILTER (WHERE kind = 'memcpy'), 0) AS memcpy_bytes,
        coalesce(sum(dur_ns) FILTER (WHERE kind = 'memset'), 0) AS memset_ns
    FROM kernels
    WHERE kind IN ('kernel', 'memcpy', 'memset')
    GROUP BY trace_id
),
launch_values AS (
    SELECT e.trace_id, count(*) AS launches, sum(greatest(e.dur_ns, 0)) AS launch_ns
    FROM events e
    JOIN (
        SELECT DISTINCT trace_id, launch_id
        FROM kernels
        WHERE launch_id IS NOT NULL AND kind IN ('kernel', 'memcpy', 'memset')
    ) l ON l.trace_id = e.trace_id AND l.launch_id = e.event_id
    GROUP BY e.trace_id
),
-- The numbers of devices depend on the machine, so metrics count the devices of a trace from 1.
numbers AS (
    SELECT
        trace_id, device,
        concat(
            'gpu#', dense_rank() OVER (PARTITION BY trace_id ORDER BY device NULLS LAST)
        ) AS subject
    FROM (SELECT DISTINCT trace_id, device FROM kernels)
),
memories AS (
    SELECT
        *, CASE WHEN coalesce(device, -1) < 0 THEN device_type
            ELSE concat(
                device_type, '#',
                dense_rank() OVER (PARTITION BY trace_id, device_type ORDER BY device NULLS LAST)
            )
        END AS subject
    FROM memory_peak
),
-- Above 100 % the device is not the one that it was taken for.
utilization AS (
    SELECT *
    FROM (
        SELECT
            trace_id, device,
            sum(hfu_pct * step_ns) / sum(CASE WHEN hfu_pct IS NOT NULL THEN step_ns END) AS hfu_pct,
            sum(mfu_pct * step_ns) / sum(CASE WHEN mfu_pct IS NOT NULL THEN step_ns END) AS mfu_pct
        FROM step_mfu
        WHERE matrix_flop > 0
        GROUP BY trace_id, device
    ) AS u
    WHERE hfu_pct <= 100
),
listed AS (
    SELECT
        trace_id, CAST(NULL AS VARCHAR) AS subject,
        unnest(make_array('wall_time', 'events', 'skipped_events')) AS metric,
        unnest(
            make_array(
                CAST(duration_ns AS DOUBLE),
                CAST(event_count AS DOUBLE),
                CAST(skipped_count AS DOUBLE)
            )
        ) AS value
    FROM traces
    UNION ALL
    SELECT
        trace_id, NULL,
        unnest(make_array('steps', 'step_time_mean', 'step_time_median', 'step_time_max')),
        unnest(make_array(CAST(steps AS DOUBLE), mean_ns, median_ns, CAST(max_ns AS DOUBLE)))
    FROM step_values
    UNION ALL
    SELECT
        s.trace_id,
        unnest(
            make_array(
                'kernel', 'memcpy', 'memset', 'communication', 'runtime', 'dataloader', 'cpu_exec',
                'other'
            )
        ),
        'step_part_mean',
        unnest(make_array(
            CASE WHEN d.trace_id IS NOT NULL THEN s.kernel_ns END,
            CASE WHEN d.trace_id IS NOT NULL THEN s.memcpy_ns END,
            CASE WHEN d.trace_id IS NOT NULL THEN s.memset_ns END,
            s.communication_ns, s.runtime_ns, s.dataloader_ns, s.cpu_exec_ns, s.other_ns
        ))
    FROM step_values s
    LEFT JOIN device_values d ON d.trace_id = s.trace_id
    UNION ALL
    SELECT o.trace_id, NULL, 'step_exposed_communication_mean', o.exposed_ns
    FROM overlap_values o
    JOIN device_values d ON d.trace_id = o.trace_id
    UNION ALL
    SELECT
        g.trace_id, n.subject,
        unnest(make_array('gpu_utilization', 'sm_efficiency', 'occupancy', 'tensor_core_use')),
        unnest(
            make_array(g.utilization_pct, g.sm_efficiency_pct, g.occupancy_pct, g.tensor_core_pct)
        )
    FROM gpu_summary g
    JOIN numbers n ON n.trace_id = g.trace_id AND n.device = g.device
    UNION ALL
    SELECT
        g.trace_id, n.subject,
        unnest(make_array(
            'gpu_busy_time', 'gpu_idle_time', 'computation_time', 'communication_time',
            'exposed_communication_time', 'exposed_memcpy_time'
        )),
        unnest(make_array(
            CAST(g.busy_time_ns AS DOUBLE),
            CAST(g.idle_time_ns AS DOUBLE),
            CAST(g.computation_time_ns AS DOUBLE),
            CAST(g.total_comm_time_ns AS DOUBLE),
            CAST(g.exposed_comm_time_ns AS DOUBLE),
            CAST(g.exposed_memcpy_time_ns AS DOUBLE)
        ))
    FROM gpu_timeline_by_device g
    JOIN numbers n
        ON n.trace_id = g.trace_id
            AND (n.device = g.device OR (n.device IS NULL AND g.device IS NULL))
    UNION ALL
    SELECT
        u.trace_id, n.subject,
        unnest(make_array('peak_utilization', 'model_utilization')),
        unnest(make_array(u.hfu_pct, u.mfu_pct))
    FROM utilization u
    JOIN numbers n
        ON n.trace_id = u.trace_id
            AND (n.device = u.device OR (n.device IS NULL AND u.device IS NULL))
    UNION ALL
    SELECT
        trace_id, NULL,
        unnest(
            make_array(
                'kernel_count', 'kernel_time', 'memcpy_count', 'memcpy_time', 'memcpy_bytes',
                'memset_time'
            )
        ),
        unnest(make_array(
            CAST(kernels AS DOUBLE),
            CAST(kernel_ns AS DOUBLE),
            CAST(copies AS DOUBLE),
            CAST(memcpy_ns AS DOUBLE),
            CAST(memcpy_bytes AS DOUBLE),
            CAST(memset_ns AS DOUBLE)))
    FROM device_values
    UNION ALL
    SELECT
        trace_id, NULL,
        unnest(make_array('launch_count', 'launch_time')),
        unnest(make_array(CAST(launches AS DOUBLE), CAST(launch_ns AS DOUBLE)))
    FROM launch_values
    UNION ALL
    SELECT trace_id, NULL, 'unlinked_time', 100.0 - linked_time_pct FROM trace_summary
    UNION ALL
    SELECT
        trace_id, NULL,
        unnest(make_array('sync_time', 'sync_calls', 'blocking_copies')),
        unnest(
            make_array(
                CAST(wait_ns AS DOUBLE), CAST(sync_calls AS DOUBLE), CAST(blocking_copies AS DOUBLE)
            )
        )
    FROM cpu_gpu_sync
    WHERE verdict <> 'not measurable'
    UNION ALL
    SELECT
        trace_id, subject,
        unnest(make_array('memory_peak', 'memory_reserved_peak')),
        unnest(
            make_array(CAST(peak_allocated_bytes AS DOUBLE), CAST(peak_reserved_bytes AS DOUBLE))
        )
    FROM memories
    UNION ALL
    -- If a trace has no device work, the device time of an operator was not recorded. That is not
    -- 0.
    SELECT
        o.trace_id, o.name,
        unnest(make_array('operator_calls', 'operator_host_time', 'operator_device_time')),
        unnest(make_array(
            CAST(o.calls AS DOUBLE),
            CAST(o.host_self_ns AS DOUBLE),
            CASE WHEN d.trace_id IS NOT NULL THEN CAST(o.device_self_ns AS DOUBLE) END
        ))
    FROM operators o
    LEFT JOIN device_values d ON d.trace_id = o.trace_id
)
SELECT l.trace_id, t.rank, l.metric, l.subject, l.value, d.unit, d.better
FROM listed l
JOIN traces t ON t.trace_id = l.trace_id
JOIN metric_definitions d ON d.metric = l.metric
WHERE l.value IS NOT NULL
