-- Copies: devices that spend much of their busy time in copies.
--
-- The message says how much of the copying nothing else hides. The severity is low where
-- computation hides half of the copies or more, where the copies are less than rule_memcpy_pct of
-- the time from the first to the last work of the device, and where half of the copying or more is
-- what pageable_copies reports.
-- Source: the memcpy rule of Perfessor, on device time alone.
-- @scope trace
-- @finding above 10 pct, high above 30: share of device busy time in copies
-- @numerator time in copies, ns
-- @denominator time in which the device works, ns
-- @unmeasured Copies could not be measured.
-- @message Copies take {value} % of the time in which device {device} works: {numerator:ns} of
--     {denominator:ns}, {exposed_ns:ns} of it with nothing else running ({copies:copy|copies}[,
--     {bytes:bytes}]){rest}
-- @advice Copy less: keep tensors on the device, create them there, copy batches from pinned memory
--     with non_blocking=True so that computation hides it.
-- @evidence SELECT r.name, r.copies, r.bytes, r.total_ns, w.numerator, w.denominator FROM (SELECT
--     total_memcpy_time_ns AS numerator, busy_time_ns AS denominator FROM gpu_timeline_by_device
--     WHERE trace_id = {trace_id} AND (device IS NOT DISTINCT FROM {device})) w LEFT JOIN (SELECT
--     name, count(*) AS copies, sum(bytes) AS bytes, sum(dur_ns) AS total_ns FROM kernels WHERE
--     kind = 'memcpy' AND trace_id = {trace_id} AND (device IS NOT DISTINCT FROM {device}) GROUP BY
--     name) r ON true ORDER BY r.total_ns DESC
WITH copies AS (
    SELECT trace_id, device, count(*) AS copies, sum(bytes) AS bytes
    FROM kernels
    WHERE kind = 'memcpy'
    GROUP BY trace_id, device
),
times AS (
    SELECT
        g.*, coalesce(
            p.severity IN ('high', 'medium') AND 2 * p.numerator >= g.total_memcpy_time_ns, false)
            AS is_reported
    FROM gpu_timeline_by_device g
    LEFT JOIN rule_pageable_copies p
        ON p.trace_id = g.trace_id AND (p.device IS NOT DISTINCT FROM g.device)
)
SELECT
    t.trace_id, t.rank, g.device, g.total_memcpy_time_ns AS numerator,
    g.busy_time_ns AS denominator, g.exposed_memcpy_time_ns AS exposed_ns,
    coalesce(c.copies, 0) AS copies, c.bytes,
    CASE
        WHEN g.is_reported
            AND 100.0 * g.total_memcpy_time_ns > setting('rule_memcpy_pct') * g.busy_time_ns
            THEN '; pageable_copies reports most of it.'
        ELSE '.'
    END AS rest,
    CASE
        WHEN g.is_reported OR g.exposed_memcpy_time_ns * 2 <= g.total_memcpy_time_ns
            OR 100.0 * g.total_memcpy_time_ns < setting('rule_memcpy_pct') * g.total_time_ns
            THEN 'low'
    END AS severity,
    CASE
        WHEN g.is_reported THEN 'See pageable_copies, which reports the cause.'
        WHEN t.format = 'xplane' THEN 'Copy less: keep arrays on the device, create them there, '
            || 'and put the next batch there (in JAX jax.device_put) while the step before it '
            || 'computes.'
        WHEN t.format <> 'kineto' THEN 'Copy less: keep data on the device, create it there, and '
            || 'copy asynchronously from pinned memory on a stream of its own so that computation '
            || 'hides it.'
    END AS advice,
    CASE
        WHEN coalesce(g.busy_time_ns, 0) = 0
            THEN coalesce(t.no_device_reason, 'The device work of the trace has no length.')
        ELSE v.too_little_reason
    END AS reason
FROM _rule_traces t
LEFT JOIN times g ON g.trace_id = t.trace_id
LEFT JOIN _rule_devices v ON v.trace_id = g.trace_id AND (v.device IS NOT DISTINCT FROM g.device)
LEFT JOIN copies c ON c.trace_id = g.trace_id AND (c.device IS NOT DISTINCT FROM g.device)
