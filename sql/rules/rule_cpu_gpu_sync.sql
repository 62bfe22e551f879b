-- CPU-GPU synchronisation: time in which the host waits for the device.
--
-- Numerator: time in which at least one thread waits for the device. Denominator: time in which the device works (cpu_gpu_sync, whose settings are
-- the limits: sync_pct, 10; sync_high_pct, 20). Waiting costs only where the device runs dry after it: findings are low while such gaps
-- (synchronisation in gpu_idle_causes) are less than rule_sync_idle_pct (5) percent of the time between the first and the last work of the devices.
-- tiny_copies says where single numbers are read. Not measurable without device work and runtime calls.
--
-- Source: the CPU-GPU synchronisation rule of PRISM's training profiler, whose inputs were never filled.
-- Example: SELECT status, severity, value, message FROM rule_cpu_gpu_sync
--
-- @column rule VARCHAR text cpu_gpu_sync.
-- @column status VARCHAR text finding, ok or not_measurable.
-- @column severity VARCHAR text high, medium, low or info; NULL unless status is finding.
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column device BIGINT id NULL: the rule is about the whole trace.
-- @column step BIGINT id NULL: the rule is about the whole trace.
-- @column subject VARCHAR text NULL: the rule is about the whole trace.
-- @column value DOUBLE number 100 * numerator / denominator; NULL if not measurable.
-- @column unit VARCHAR text Unit of value and threshold: pct.
-- @column threshold DOUBLE number The setting sync_pct.
-- @column numerator BIGINT number time in which the host waits for the device, ns; NULL if not measurable.
-- @column denominator BIGINT number time in which the device works, ns; NULL if not measurable.
-- @column numerator_name VARCHAR text What numerator is; NULL if there is none.
-- @column denominator_name VARCHAR text What denominator is; NULL if there is none.
-- @column message VARCHAR text The finding in a sentence.
-- @column advice VARCHAR text What to do; NULL unless status is finding.
-- @column evidence VARCHAR text A query that shows the rows behind it.
-- @column reason VARCHAR text Why it is not measurable and how to record what is missing; NULL otherwise.
WITH idle AS (
    SELECT trace_id, sum(synchronisation_ns) AS idle_ns FROM _idle_parts GROUP BY trace_id
),
totals AS (
    SELECT trace_id, sum(total_time_ns) AS total_ns FROM gpu_timeline_by_device GROUP BY trace_id
),
measured AS (
    SELECT
        t.trace_id, t.rank, s.wait_ns AS numerator, s.gpu_busy_ns AS denominator, s.sync_calls, s.blocking_copies, s.tiny_copies,
        coalesce(i.idle_ns, 0) AS idle_ns, coalesce(x.total_ns, 0) AS total_ns,
        CASE
            WHEN t.no_device_reason IS NOT NULL THEN t.no_device_reason
            WHEN s.verdict = 'not measurable' THEN 'The trace has device work and no runtime calls; record ProfilerActivity.CPU and ProfilerActivity.CUDA together.'
        END AS reason
    FROM _rule_traces t
    LEFT JOIN cpu_gpu_sync s ON s.trace_id = t.trace_id
    LEFT JOIN idle i ON i.trace_id = t.trace_id
    LEFT JOIN totals x ON x.trace_id = t.trace_id
),
judged AS (
    SELECT
        *,
        CASE
            WHEN reason IS NOT NULL THEN 'not_measurable'
            WHEN 100.0 * numerator > setting('sync_pct') * denominator THEN 'finding'
            ELSE 'ok'
        END AS status
    FROM measured
)
SELECT
    'cpu_gpu_sync' AS rule, status,
    CASE WHEN status = 'finding' THEN
        CASE
        WHEN 100.0 * idle_ns < setting('rule_sync_idle_pct') * total_ns THEN 'low'
        WHEN 100.0 * numerator > setting('sync_high_pct') * denominator THEN 'high'
        ELSE 'medium'
    END
    END AS severity,
    trace_id, rank, CAST(NULL AS BIGINT) AS device, CAST(NULL AS BIGINT) AS step, CAST(NULL AS VARCHAR) AS subject,
    CASE WHEN status <> 'not_measurable' THEN 100.0 * numerator / denominator END AS value,
    'pct' AS unit,
    setting('sync_pct') AS threshold,
    CASE WHEN status <> 'not_measurable' THEN CAST(numerator AS BIGINT) END AS numerator,
    CASE WHEN status <> 'not_measurable' THEN CAST(denominator AS BIGINT) END AS denominator,
    'time in which the host waits for the device, ns' AS numerator_name,
    'time in which the device works, ns' AS denominator_name,
    CASE WHEN status = 'not_measurable' THEN 'How long the host waits for the device could not be measured.' ELSE
        concat(
            'The host waits for the device for ', format_ns(numerator), ', ', round(100.0 * numerator / denominator, 1), ' % of the ', format_ns(denominator), ' in which it works (',
            sync_calls, ' synchronisations, ', blocking_copies, ' blocking copies, ', tiny_copies, ' of these tiny); the device was idle for ', format_ns(idle_ns), ' after such waits.')
    END AS message,
    CASE WHEN status = 'finding' THEN
        'Take .item(), .cpu(), .numpy(), print and torch.cuda.synchronize() out of the loop, or do them every so many steps; copy with '
        || 'non_blocking=True from and to pinned memory; device_syncs says where they are.'
    END AS advice,
    concat(
        'SELECT kind, name, op_name, python_frame, calls, total_ns, copied_bytes FROM device_syncs WHERE trace_id = ''', trace_id, ''' ORDER BY total_ns DESC') AS evidence,
    reason
FROM judged
