-- Launch bound: devices whose short kernels each wait for the host to launch them.
--
-- The numerator counts gaps between the work of a device that end with work whose launch call had
-- not begun, or had not returned, when the work before it ended (host_late_ns or launch_call_ns in
-- gpu_idle_gaps), without gaps in which the host waited for the device or fetched a batch. There is
-- a finding only if the median kernel is shorter than rule_launch_bound_kernel_ns: the device then
-- runs dry between most kernels. The severity follows these gaps as a share of the time between the
-- first and the last work: high above rule_launch_bound_high_pct, medium above rule_gpu_idle_pct,
-- else low.
-- Source: launch statistics of Holistic Trace Analysis.
-- @scope trace
-- @finding above 50 pct: share of device work that waited for its launch
-- @setting rule_launch_bound_high_pct 50 pct Share of idle time before late launches above which a
--     finding of rule_launch_bound is high.
-- @setting rule_launch_bound_kernel_ns 20000 ns Median kernel duration below which kernels count as
--     short in rule_launch_bound.
-- @numerator device work that was launched late
-- @denominator device work with a known launch
-- @unmeasured Whether launches hold the device up could not be measured.
-- @message {value} % of the work of device {device} ({numerator} of {denominator}) began after the
--     device had waited for its launch, {idle_ns:ns} of {total_ns:ns} in sum; the median kernel
--     takes {median_ns:ns}.
-- @advice Launch less and larger: raise the batch size, fuse with torch.compile, use foreach or
--     fused optimizers, capture CUDA graphs.
-- @evidence SELECT r.after_name, r.gaps, r.idle_ns, w.numerator, w.denominator FROM (SELECT l.gaps
--     AS numerator, k.linked AS denominator FROM (SELECT count(*) AS gaps FROM gpu_idle_gaps WHERE
--     host_late_ns + launch_call_ns > 0 AND synchronisation_ns = 0 AND data_loading_ns = 0 AND
--     trace_id = {trace_id} AND (device IS NOT DISTINCT FROM {device})) l CROSS JOIN (SELECT
--     count(launch_id) AS linked FROM kernels WHERE kind IN ('kernel', 'memcpy', 'memset') AND
--     dur_ns >= 0 AND trace_id = {trace_id} AND (device IS NOT DISTINCT FROM {device})) k) w LEFT
--     JOIN (SELECT after_name, count(*) AS gaps, sum(idle_ns) AS idle_ns FROM gpu_idle_gaps WHERE
--     host_late_ns + launch_call_ns > 0 AND synchronisation_ns = 0 AND data_loading_ns = 0 AND
--     trace_id = {trace_id} AND (device IS NOT DISTINCT FROM {device}) GROUP BY after_name) r ON
--     true ORDER BY r.idle_ns DESC
WITH late AS (
    SELECT trace_id, device, count(*) AS gaps, sum(idle_ns) AS idle_ns
    FROM _idle_parts
    WHERE host_late_ns + launch_call_ns > 0 AND synchronisation_ns = 0 AND data_loading_ns = 0
    GROUP BY trace_id, device
),
work AS (
    SELECT
        trace_id, device, count(launch_id) AS linked, max(end_ns) - min(ts_ns) AS total_ns,
        quantile(CASE WHEN kind = 'kernel' THEN CAST(dur_ns AS DOUBLE) END, 0.5) AS median_ns
    FROM kernels
    WHERE kind IN ('kernel', 'memcpy', 'memset') AND dur_ns >= 0
    GROUP BY trace_id, device
)
SELECT
    t.trace_id, t.rank, w.device, coalesce(l.gaps, 0) AS numerator, w.linked AS denominator,
    coalesce(l.idle_ns, 0) AS idle_ns, w.total_ns, w.median_ns,
    CASE WHEN w.median_ns >= setting('rule_launch_bound_kernel_ns') THEN false END AS is_finding,
    CASE
        WHEN 100.0 * coalesce(l.idle_ns, 0) > setting('rule_launch_bound_high_pct') * w.total_ns
            THEN 'high'
        WHEN 100.0 * coalesce(l.idle_ns, 0) <= setting('rule_gpu_idle_pct') * w.total_ns THEN 'low'
    END AS severity,
    CASE
        WHEN t.format = 'xplane' THEN 'Launch less and larger: raise the batch size, and put more '
            || 'of the step, or several steps, into one compiled function (in JAX jax.jit, '
            || 'jax.lax.scan).'
        WHEN t.format <> 'kineto' THEN 'Launch less and larger: raise the batch size, fuse small '
            || 'kernels, and capture launches that repeat as a graph (CUDA graphs, HIP graphs).'
    END AS advice,
    CASE
        WHEN w.trace_id IS NULL THEN t.no_device_reason
        WHEN w.linked = 0
            THEN concat('No launch of the device work was found', t.calls_hint)
        WHEN w.median_ns IS NULL THEN 'The device ran no kernels.'
        ELSE v.too_little_reason
    END AS reason
FROM _rule_traces t
LEFT JOIN work w ON w.trace_id = t.trace_id
LEFT JOIN _rule_devices v ON v.trace_id = w.trace_id AND (v.device IS NOT DISTINCT FROM w.device)
LEFT JOIN late l ON l.trace_id = w.trace_id AND (l.device IS NOT DISTINCT FROM w.device)
