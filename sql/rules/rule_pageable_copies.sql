-- Pageable copies: copies from or to host memory that is not pinned, which block the host.
--
-- The names of such copies hold Pageable. The severity is low where they are less than
-- rule_pageable_copies_pct of the time from the first to the last work of the device. Smaller
-- copies are for tiny_copies. The rule is not measurable where no name of a copy says whether the
-- host's memory is pinned (ROCm, XLA).
-- Source: pageable copies as CUPTI names them.
-- @scope trace
-- @finding above 2 pct, high above 10: share of device busy time in pageable copies
-- @setting rule_pageable_copies_bytes 1000000 bytes Bytes of pageable copies below which
--     rule_pageable_copies has no finding.
-- @numerator time in copies from or to pageable memory, ns
-- @denominator time in which the device works, ns
-- @unmeasured Pageable copies could not be measured.
-- @message {copies:copy|copies} from or to pageable memory[ ({bytes:bytes})] take {value} % of the
--     time in which device {device} works: {numerator:ns} of {denominator:ns}.
-- @advice Pin the host's memory (pin_memory=True of the DataLoader, tensor.pin_memory()) and copy
--     with non_blocking=True; read results back seldom and together.
-- @evidence SELECT r.name, r.op_name, r.copies, r.bytes, r.total_ns, w.numerator, w.denominator
--     FROM (SELECT c.copy_ns AS numerator, g.busy_time_ns AS denominator FROM
--     gpu_timeline_by_device g CROSS JOIN (SELECT coalesce(interval_union_len(ts_ns, end_ns), 0) AS
--     copy_ns FROM kernels WHERE kind = 'memcpy' AND dur_ns >= 0 AND name LIKE '%Pageable%' AND
--     trace_id = {trace_id} AND (device IS NOT DISTINCT FROM {device})) c WHERE g.trace_id =
--     {trace_id} AND (g.device IS NOT DISTINCT FROM {device})) w LEFT JOIN (SELECT k.name,
--     l.op_name, count(*) AS copies, sum(k.bytes) AS bytes, sum(k.dur_ns) AS total_ns FROM kernels
--     k JOIN kernel_launches l ON l.trace_id = k.trace_id AND l.event_id = k.event_id WHERE k.kind
--     = 'memcpy' AND k.name LIKE '%Pageable%' AND k.trace_id = {trace_id} AND (k.device IS NOT
--     DISTINCT FROM {device}) GROUP BY k.name, l.op_name) r ON true ORDER BY r.total_ns DESC
WITH named AS (SELECT *, contains(name, 'Pageable') AS is_pageable FROM kernels),
copies AS (
    SELECT
        trace_id, device, count(*) FILTER (WHERE is_pageable) AS copies,
        sum(bytes) FILTER (WHERE is_pageable) AS bytes,
        coalesce(interval_union_len(CASE WHEN is_pageable THEN ts_ns END, end_ns), 0) AS copy_ns,
        count(*) FILTER (WHERE regexp_like(name, 'Host|H2D|D2H')) > 0
            AND count(*) FILTER (WHERE is_pageable OR contains(name, 'Pinned')) = 0 AS is_unknown
    FROM named
    WHERE kind = 'memcpy' AND dur_ns >= 0
    GROUP BY trace_id, device
)
SELECT
    t.trace_id, t.rank, g.device, coalesce(c.copy_ns, 0) AS numerator,
    g.busy_time_ns AS denominator, c.copies, c.bytes,
    CASE WHEN c.bytes < setting('rule_pageable_copies_bytes') THEN false END AS is_finding,
    CASE
        WHEN 100.0 * c.copy_ns < setting('rule_pageable_copies_pct') * g.total_time_ns THEN 'low'
    END AS severity,
    CASE
        WHEN coalesce(c.copies, 0) = 0 THEN concat(
            'Device ', coalesce(CAST(g.device AS VARCHAR), 'without number'),
            ' has no copies from or to pageable memory.')
    END AS message,
    CASE
        WHEN t.format <> 'kineto' THEN 'Pin the host''s memory (allocate it with cudaHostAlloc, or '
            || 'register it with cudaHostRegister) and copy asynchronously; read results back '
            || 'seldom and together.'
    END AS advice,
    CASE
        WHEN coalesce(g.busy_time_ns, 0) = 0
            THEN coalesce(t.no_device_reason, 'The device work of the trace has no length.')
        WHEN c.is_unknown AND t.format = 'xplane' THEN 'The names of the copies do not say whether '
            || 'the host memory is pinned; memcpy_details in the args of their events may.'
        WHEN c.is_unknown THEN concat(
            'The profiler of this device does not say whether the host memory of copies is pinned',
            CASE WHEN t.format = 'kineto' THEN '; look at is_pinned() of the tensors' END, '.')
        ELSE v.too_little_reason
    END AS reason
FROM _rule_traces t
LEFT JOIN gpu_timeline_by_device g ON g.trace_id = t.trace_id
LEFT JOIN _rule_devices v ON v.trace_id = g.trace_id AND (v.device IS NOT DISTINCT FROM g.device)
LEFT JOIN copies c ON c.trace_id = g.trace_id AND (c.device IS NOT DISTINCT FROM g.device)
