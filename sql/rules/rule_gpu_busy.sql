-- GPU busy: devices that have nothing to run for most of the steps.
--
-- A device is busy while at least one kernel, copy or fill runs on it, from the start of the first
-- step to the end of the last, or over all operators and their device work in traces without steps.
-- There is one row for each device with work. The severity is low where half of the idle time or
-- more is what another rule reports that is as severe: gpu_idle for the gaps between work,
-- runtime_overhead or data_loading for time in which no device works. A program on the CPU has no
-- device work and is not measurable.
-- Source: the utilization rule of Perfessor, with the union of device work instead of sums that
--     also hold calls of the host.
-- @scope trace
-- @finding below 50 pct, high below 25: share of step time in which a device works
-- @numerator device work in the steps, ns
-- @denominator from the start of the first step to the end of the last, ns
-- @unmeasured How busy the GPU is could not be measured.
-- @message Device {device} is busy {value} % of the time {span}: {numerator:ns} of
--     {denominator:ns}{rest}
-- @advice Find what the device waits for in gpu_idle_causes; then give it more per launch: larger
--     batches, fused or compiled operators, CUDA graphs; and keep the host from waiting for it.
-- @evidence SELECT r.device, r.busy_time_ns, r.idle_time_ns, r.total_time_ns, w.numerator,
--     w.denominator FROM (SELECT coalesce(interval_union_len(greatest(k.ts_ns, s.start_ns),
--     least(k.end_ns, s.end_ns)) FILTER (WHERE k.ts_ns < s.end_ns AND k.end_ns > s.start_ns), 0) AS
--     numerator, max(s.end_ns - s.start_ns) AS denominator FROM kernels k CROSS JOIN (SELECT
--     min(start_ns) AS start_ns, max(end_ns) AS end_ns FROM step_time WHERE trace_id = {trace_id})
--     s WHERE k.kind IN ('kernel', 'memcpy', 'memset') AND k.dur_ns >= 0 AND (k.device IS NOT
--     DISTINCT FROM {device}) AND k.trace_id = {trace_id}) w LEFT JOIN (SELECT * FROM
--     gpu_timeline_by_device WHERE trace_id = {trace_id} AND (device IS NOT DISTINCT FROM
--     {device})) r ON true
WITH busy AS (
    SELECT
        k.trace_id, k.device, w.is_marked, w.is_device_window, w.denominator_name,
        w.end_ns - w.start_ns AS window_ns,
        coalesce(
            interval_union_len(greatest(k.ts_ns, w.start_ns), least(k.end_ns, w.end_ns))
                FILTER (WHERE k.ts_ns < w.end_ns AND k.end_ns > w.start_ns), 0) AS busy_ns
    FROM kernels k
    JOIN _step_shares w ON w.trace_id = k.trace_id
    WHERE k.kind IN ('kernel', 'memcpy', 'memset') AND k.dur_ns >= 0 AND w.end_ns > w.start_ns
    GROUP BY
        k.trace_id, k.device, w.is_marked, w.is_device_window, w.denominator_name, w.start_ns,
        w.end_ns
),
-- Findings of other rules about the idle time of a device, in the order in which they are named.
others AS (
    SELECT
        trace_id, device, 1 AS place, rule, numerator AS cause_ns,
        100.0 * numerator > setting('rule_gpu_idle_high_pct') * denominator AS is_high
    FROM rule_gpu_idle
    WHERE status = 'finding'
    UNION ALL
    SELECT trace_id, device, 2, rule, numerator, severity = 'high'
    FROM rule_data_loading
    WHERE severity IN ('high', 'medium')
    UNION ALL
    SELECT trace_id, device, 3, rule, numerator, severity = 'high'
    FROM rule_runtime_overhead
    WHERE severity IN ('high', 'medium')
),
reporters AS (
    SELECT b.trace_id, b.device, first_value(o.rule ORDER BY o.place) AS reporter
    FROM busy b
    JOIN others o ON o.trace_id = b.trace_id
    WHERE (o.place > 1 OR o.device IS NOT DISTINCT FROM b.device)
        AND 2 * o.cause_ns >= b.window_ns - b.busy_ns
        AND (o.is_high
            OR 100.0 * b.busy_ns >= setting('rule_gpu_busy_high_pct') * b.window_ns)
    GROUP BY b.trace_id, b.device
),
judged AS (
    SELECT
        b.*, g.numerator AS gaps_ns, r.reporter,
        100.0 * b.busy_ns < setting('rule_gpu_busy_pct') * b.window_ns AS is_finding
    FROM busy b
    LEFT JOIN rule_gpu_idle g
        ON g.trace_id = b.trace_id AND (g.device IS NOT DISTINCT FROM b.device)
    LEFT JOIN reporters r ON r.trace_id = b.trace_id AND (r.device IS NOT DISTINCT FROM b.device)
)
SELECT
    t.trace_id, t.rank, b.device, b.busy_ns AS numerator, b.window_ns AS denominator,
    b.denominator_name,
    CASE
        WHEN b.is_marked THEN 'from the first to the last step'
        WHEN b.is_device_window THEN 'from the first to the last device work'
        ELSE 'from the first operator to the end of all and of their device work'
    END AS span,
    CASE
        WHEN NOT b.is_finding OR b.reporter IS NULL AND b.gaps_ns IS NULL THEN '.'
        WHEN b.reporter = 'gpu_idle' THEN '; gpu_idle reports the gaps between its work.'
        WHEN b.reporter IS NOT NULL THEN concat('; ', b.reporter, ' reports most of the rest.')
        ELSE concat(
            '; the gaps between its first and last work are ', format_ns(b.gaps_ns), '.')
    END AS rest,
    CASE WHEN b.reporter IS NOT NULL THEN 'low' END AS severity,
    CASE
        WHEN b.reporter IS NOT NULL THEN concat('See ', b.reporter, ', which names the cause.')
        WHEN 2 * b.gaps_ns < b.window_ns - b.busy_ns
            THEN 'Most of the idle time lies before the first or after the last work of the '
                || 'device: look in step_time and call_graph for what the host does then, and '
                || 'record steps after the warm-up.'
        WHEN t.format <> 'kineto'
            THEN 'Find what the device waits for in gpu_idle_causes; then give it more per launch '
                || '(larger batches, more of the step fused or compiled together); and keep the '
                || 'host from waiting for it.'
    END AS advice,
    CASE
        WHEN b.trace_id IS NULL
            THEN coalesce(t.no_device_reason, 'The steps of the trace have no length.')
        ELSE v.too_little_reason
    END AS reason
FROM _rule_traces t
LEFT JOIN judged b ON b.trace_id = t.trace_id
LEFT JOIN _rule_devices v ON v.trace_id = b.trace_id AND (v.device IS NOT DISTINCT FROM b.device)
