-- CPU-GPU synchronisation: the host waits for the device, which then waits for the host.
--
-- The numerator is the time within the steps in which at least one thread waits for the device
-- (device_syncs), without waits after the last step. The rule has a finding only if the waits cost
-- something: the device must be idle after them (idle_ns of cpu_gpu_sync) for at least
-- rule_sync_cost_pct of the time. The severity follows this idle time. It is low where most of the
-- waiting is in copies that pageable_copies reports. tiny_copies shows where single numbers are
-- read.
-- Source: the CPU-GPU synchronisation rule of PRISM's training profiler, whose inputs were never
--     filled; it divides by the time in which the device works.
-- @scope trace
-- @finding above sync_pct pct
-- @setting rule_sync_cost_pct 1 pct Share of step time in which the device is idle after waits of
--     the host below which rule_cpu_gpu_sync has no finding.
-- @setting rule_sync_idle_pct 5 pct Share of step time in which the device is idle after waits of
--     the host below which findings of rule_cpu_gpu_sync are low.
-- @setting rule_sync_idle_high_pct 15 pct Share of step time in which the device is idle after
--     waits of the host above which findings of rule_cpu_gpu_sync are high.
-- @numerator time in the steps in which the host waits for the device, ns
-- @denominator length of all steps on the host, ns
-- @unmeasured How long the host waits for the device could not be measured.
-- @message The host waits for the device in {value} % of {span}: {numerator:ns} of
--     {denominator:ns}. After such waits the device is idle for {idle_ns:ns}, {idle_pct:1} % of it.
--     The trace has {sync_calls:synchronisation|synchronisations} and {blocking_copies:blocking
--     copy|blocking copies}[, {tiny_copies} of a few bytes]{rest}
-- @advice Take .item(), .cpu(), .numpy(), print and torch.cuda.synchronize() out of the loop, or do
--     them every so many steps; copy with non_blocking=True from and to pinned memory; device_syncs
--     says where they are.
-- @evidence SELECT r.kind, r.name, r.op_name, r.python_frame, r.calls, r.total_ns, r.copied_bytes,
--     w.numerator, w.denominator FROM (SELECT step_wait_ns AS numerator, step_ns AS denominator
--     FROM cpu_gpu_sync WHERE trace_id = {trace_id}) w LEFT JOIN (SELECT * FROM device_syncs WHERE
--     trace_id = {trace_id}) r ON true ORDER BY r.total_ns DESC
WITH stepped AS (SELECT DISTINCT trace_id FROM steps),
kinds AS (
    SELECT
        trace_id,
        2 * coalesce(sum(dur_ns) FILTER (WHERE is_pageable AND NOT is_tiny), 0) >= sum(dur_ns)
            AS is_pageable
    FROM _device_syncs
    GROUP BY trace_id
),
reported AS (
    SELECT DISTINCT r.trace_id
    FROM rule_pageable_copies r
    JOIN kinds k ON k.trace_id = r.trace_id AND k.is_pageable
    WHERE r.severity IN ('high', 'medium')
)
SELECT
    t.trace_id, t.rank, s.step_wait_ns AS numerator, s.step_ns AS denominator, s.sync_calls,
    s.blocking_copies, s.idle_ns, 100.0 * s.idle_ns / s.step_ns AS idle_pct,
    CASE
        WHEN p.trace_id IS NULL THEN 'the time from the first to the last operator'
        ELSE 'the steps'
    END AS span,
    CASE WHEN p.trace_id IS NULL THEN 'from the first to the last operator, ns' END
        AS denominator_name,
    nullif(s.tiny_copies, 0) AS tiny_copies,
    CASE
        WHEN x.trace_id IS NULL THEN '.'
        ELSE '; most of the waiting is in the copies that pageable_copies reports.'
    END AS rest,
    CASE WHEN 100.0 * s.idle_ns < setting('rule_sync_cost_pct') * s.step_ns THEN false END
        AS is_finding,
    CASE
        WHEN x.trace_id IS NOT NULL OR 100.0 * s.idle_ns < setting('rule_sync_idle_pct') * s.step_ns
            THEN 'low'
        WHEN 100.0 * s.idle_ns > setting('rule_sync_idle_high_pct') * s.step_ns THEN 'high'
    END AS severity,
    CASE
        WHEN x.trace_id IS NOT NULL THEN 'See pageable_copies, which reports the cause.'
        WHEN t.format = 'xplane' THEN 'Read values back from the device (in JAX '
            || 'block_until_ready(), float(), np.asarray()) after the loop or every so many steps; '
            || 'device_syncs says where the host waits.'
        WHEN t.format <> 'kineto' THEN 'Take synchronisations and copies that block out of the '
            || 'loop, or do them every so many steps; copy asynchronously from and to pinned '
            || 'memory; device_syncs says where they are.'
    END AS advice,
    CASE
        WHEN t.no_device_reason IS NOT NULL THEN t.no_device_reason
        WHEN coalesce(s.step_ns, 0) = 0 THEN 'The steps of the trace have no length.'
        WHEN s.verdict = 'not measurable'
            THEN concat('The trace has device work and no runtime calls', t.calls_hint)
        ELSE t.too_little_reason
    END AS reason
FROM _rule_traces t
LEFT JOIN cpu_gpu_sync s ON s.trace_id = t.trace_id
LEFT JOIN stepped p ON p.trace_id = t.trace_id
LEFT JOIN reported x ON x.trace_id = t.trace_id
