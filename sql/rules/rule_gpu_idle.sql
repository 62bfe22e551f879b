-- Idle GPU: time between the first and the last work of a device in which it runs nothing.
--
-- The numerator is all gaps between the work of a device, in steps or not (gpu_timeline_by_device).
-- The subject is the cause with the largest part of gpu_idle_causes, whose parts add up to the
-- numerator exactly; the message has the three largest. The severity is low where another rule has
-- a finding on that cause that is as severe: data_loading; cpu_gpu_sync or pageable_copies for
-- synchronisation; launch_bound for late hosts and launch calls, and runtime_overhead too if it is
-- half of the gaps or more; unlinked_work where launches are not known. Time before the first and
-- after the last work does not count here; gpu_busy counts it, within the steps.
-- Source: the idle threshold of TraceLens; causes as in gpu_idle_gaps.
-- @scope trace
-- @finding above 15 pct, high above 50: share of idle time between device work
-- @column subject VARCHAR text The cause with the largest part: data_loading, synchronisation,
--     host_late, launch_call, queued or unlinked; NULL without gaps or if not measurable.
-- @subject {cause}
-- @numerator gaps between device work, ns
-- @denominator from the first to the last device work, ns
-- @unmeasured Idle time of the GPU could not be measured.
-- @message Device {device} is idle {value} % of the time between its first and last work:
--     {numerator:ns} of {denominator:ns}[; largest parts: {parts}]{rest}
-- @evidence SELECT r.device, r.start_ns, r.idle_ns, r.cause, r.before_name, r.after_name,
--     w.numerator, w.denominator FROM (SELECT idle_time_ns AS numerator, total_time_ns AS
--     denominator FROM gpu_timeline_by_device WHERE trace_id = {trace_id} AND (device IS NOT
--     DISTINCT FROM {device})) w LEFT JOIN (SELECT * FROM gpu_idle_gaps WHERE trace_id = {trace_id}
--     AND (device IS NOT DISTINCT FROM {device})) r ON true ORDER BY r.idle_ns DESC LIMIT 20
WITH causes AS (
    SELECT
        trace_id, device, cause, idle_ns,
        row_number() OVER (PARTITION BY trace_id, device ORDER BY idle_ns DESC, cause) AS place
    FROM gpu_idle_causes
),
parts AS (
    SELECT
        trace_id, device, max(CASE WHEN place = 1 THEN cause END) AS cause,
        string_agg(
            concat(replace(cause, '_', ' '), ' ', format_ns(idle_ns)), ', ' ORDER BY place) AS text
    FROM causes
    WHERE place <= 3 AND idle_ns > 0
    GROUP BY trace_id, device
),
-- Findings of other rules, with the causes that they report.
others AS (
    SELECT trace_id, device, 'data_loading' AS cause, rule, severity, numerator AS cause_ns
    FROM rule_data_loading
    UNION ALL
    SELECT trace_id, device, 'synchronisation', rule, severity, NULL FROM rule_cpu_gpu_sync
    UNION ALL
    SELECT trace_id, device, 'synchronisation', rule, severity, NULL FROM rule_pageable_copies
    UNION ALL
    SELECT trace_id, device, unnest(['host_late', 'launch_call']), rule, severity, NULL
    FROM rule_launch_bound
    UNION ALL
    SELECT trace_id, device, unnest(['host_late', 'launch_call']), rule, severity, numerator
    FROM rule_runtime_overhead
    UNION ALL
    SELECT trace_id, device, 'unlinked', rule, severity, NULL FROM rule_unlinked_work
),
reporters AS (
    SELECT g.trace_id, g.device, first_value(o.rule ORDER BY o.severity, o.rule) AS reporter
    FROM gpu_timeline_by_device g
    JOIN parts p ON p.trace_id = g.trace_id AND (p.device IS NOT DISTINCT FROM g.device)
    JOIN others o ON o.trace_id = p.trace_id AND o.cause = p.cause
    WHERE o.severity IN ('high', 'medium')
        AND (o.device IS NULL OR o.device IS NOT DISTINCT FROM g.device)
        AND (o.rule <> 'runtime_overhead' OR 2 * o.cause_ns >= g.idle_time_ns)
        AND (o.severity = 'high'
            OR 100.0 * g.idle_time_ns <= setting('rule_gpu_idle_high_pct') * g.total_time_ns)
    GROUP BY g.trace_id, g.device
)
SELECT
    t.trace_id, t.rank, g.device, p.cause, g.idle_time_ns AS numerator,
    g.total_time_ns AS denominator, p.text AS parts,
    CASE
        WHEN r.reporter IS NOT NULL
            AND 100.0 * g.idle_time_ns > setting('rule_gpu_idle_pct') * g.total_time_ns
            THEN concat('; ', r.reporter, ' reports the cause of the largest.')
        ELSE '.'
    END AS rest,
    CASE WHEN r.reporter IS NOT NULL THEN 'low' END AS severity,
    CASE
        WHEN r.reporter IS NOT NULL THEN concat('See ', r.reporter, ', which reports the cause.')
        WHEN t.format <> 'kineto' AND p.cause = 'data_loading' THEN 'The device waits for batches: '
            || 'load them in other threads or processes, ahead of the step that needs them.'
        WHEN t.format <> 'kineto' AND p.cause = 'synchronisation' THEN 'The host waits for the '
            || 'device and then prepares the next work while the device is idle: take '
            || 'synchronisations and copies that block out of the loop; device_syncs says where '
            || 'the waits are.'
        WHEN t.format <> 'kineto' AND p.cause = 'host_late' THEN 'The host is too slow to feed the '
            || 'device: put more work into each launch (larger batches, more of the step fused or '
            || 'compiled together), and move work of the host out of the loop.'
        WHEN t.format <> 'kineto' AND p.cause = 'launch_call' THEN 'The device waits for launch '
            || 'calls: fuse small kernels; where a single call is long, it loads modules or '
            || 'allocates: warm up first.'
        WHEN p.cause = 'data_loading' THEN 'The device waits for batches: load them in worker '
            || 'processes (num_workers, pin_memory, persistent_workers) and prefetch.'
        WHEN p.cause = 'synchronisation' THEN 'The host waits for the device and then prepares the '
            || 'next work while the device is idle: take .item(), .cpu(), print and synchronize() '
            || 'out of the loop, and copy from and to pinned memory with non_blocking=True; '
            || 'device_syncs says where the waits are.'
        WHEN p.cause = 'host_late' THEN 'The host is too slow to feed the device: batch more work '
            || 'per launch, fuse with torch.compile, capture CUDA graphs, and move Python work out '
            || 'of the loop.'
        WHEN p.cause = 'launch_call' THEN 'The device waits for launch calls: fuse small kernels, '
            || 'capture CUDA graphs; where a single call is long, it loads modules or allocates: '
            || 'warm up first.'
        WHEN p.cause = 'queued' THEN 'Work was launched and the device did not begin it: look for '
            || 'streams that wait for each other (events, collectives) and for delays between '
            || 'short kernels.'
        ELSE 'It is not known which calls launched the work after the gaps: the rule unlinked_work '
            || 'says why, and what to record.'
    END AS advice,
    CASE
        WHEN coalesce(g.total_time_ns, 0) = 0
            THEN coalesce(t.no_device_reason, 'The device work of the trace has no length.')
        ELSE v.too_little_reason
    END AS reason
FROM _rule_traces t
LEFT JOIN gpu_timeline_by_device g ON g.trace_id = t.trace_id
LEFT JOIN _rule_devices v ON v.trace_id = g.trace_id AND (v.device IS NOT DISTINCT FROM g.device)
LEFT JOIN reporters r ON r.trace_id = g.trace_id AND (r.device IS NOT DISTINCT FROM g.device)
LEFT JOIN parts p ON p.trace_id = g.trace_id AND (p.device IS NOT DISTINCT FROM g.device)
