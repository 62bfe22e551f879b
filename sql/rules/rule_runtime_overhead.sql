-- Runtime overhead: steps that go to runtime and driver calls while the device does nothing.
--
-- A call (launches, allocation) counts while no kernel, copy, fill or collective runs; calls during
-- device work cost nothing. Calls in which the host only waits for the device, synchronisations and
-- copies that block, do not count: cpu_gpu_sync and pageable_copies judge them. The message names
-- the call with the longest time in the trace, such waits aside. Where that call launches work and
-- launch_bound reports as much or worse, the severity is low and the message refers to
-- launch_bound.
-- Source: the runtime rule of Perfessor, restricted to what device work does not hide.
-- @scope trace
-- @finding above 15 pct, high above 40: share of step time in runtime calls without device work
-- @numerator runtime and driver calls without device work beside them, ns
-- @denominator length of all steps, ns
-- @unmeasured Runtime overhead could not be measured.
-- @message Runtime and driver calls without device work beside them take {value} % of {span}:
--     {numerator:ns} of {denominator:ns}[ (calls that wait for the device, which are not counted:
--     {waits_ns:ns})][; the longest in sum over the trace is {name} ({calls:call|calls},
--     {call_ns:ns})]{rest}
-- @advice If the calls are launches, launch less: fuse with torch.compile, use foreach or fused
--     optimizers, capture CUDA graphs. If they allocate, free or initialise, keep memory in the
--     caching allocator and warm up before the recording.
-- @evidence SELECT r.name, r.calls, r.total_ns, w.numerator, w.denominator FROM (SELECT
--     exposed_runtime_ns AS numerator, total_ns AS denominator FROM _step_shares WHERE trace_id =
--     {trace_id}) w LEFT JOIN (SELECT name, count(*) AS calls, sum(dur_ns) AS total_ns FROM events
--     WHERE trace_id = {trace_id} AND cat IN ('cuda_runtime', 'cuda_driver', 'Runtime', 'runtime',
--     'hip_runtime', 'hip_driver', 'xpu_runtime', 'xpu_driver', 'mtia_runtime') GROUP BY name) r ON
--     true ORDER BY r.total_ns DESC
WITH calls AS (
    SELECT
        l.trace_id, l.name, count(*) AS calls, sum(l.dur_ns) AS call_ns,
        row_number() OVER (PARTITION BY l.trace_id ORDER BY sum(l.dur_ns) DESC, l.name) AS place
    FROM _launches l
    LEFT JOIN _waiting_calls w ON w.trace_id = l.trace_id AND w.event_id = l.event_id
    WHERE w.event_id IS NULL
    GROUP BY l.trace_id, l.name
),
launch_bound AS (
    SELECT trace_id, bool_or(severity = 'high') AS is_high
    FROM rule_launch_bound
    WHERE severity IN ('high', 'medium')
    GROUP BY trace_id
),
times AS (
    SELECT
        s.*, c.name, c.calls, c.call_ns,
        classify('launch_call', c.name) IS NOT NULL AND b.trace_id IS NOT NULL
            AND (b.is_high OR 100.0 * s.exposed_runtime_ns
                <= setting('rule_runtime_overhead_high_pct') * s.total_ns) AS is_reported
    FROM _step_shares s
    LEFT JOIN launch_bound b ON b.trace_id = s.trace_id
    LEFT JOIN calls c ON c.trace_id = s.trace_id AND c.place = 1
)
SELECT
    t.trace_id, t.rank, s.exposed_runtime_ns AS numerator, s.total_ns AS denominator, s.span,
    s.denominator_name, nullif(s.exposed_wait_ns, 0) AS waits_ns, s.name, s.calls, s.call_ns,
    CASE
        WHEN s.is_reported
            AND 100.0 * s.exposed_runtime_ns > setting('rule_runtime_overhead_pct') * s.total_ns
            THEN '; launch_bound reports the cause.'
        ELSE '.'
    END AS rest,
    CASE WHEN s.is_reported THEN 'low' END AS severity,
    CASE
        WHEN s.is_reported THEN 'See launch_bound, which reports the cause.'
        WHEN t.format = 'xplane' THEN 'If the calls are launches, put more work into one compiled '
            || 'function (in JAX jax.jit). If they allocate, free, load or initialise, warm up '
            || 'before the recording, and keep memory in the allocator of XLA.'
        WHEN t.format <> 'kineto' THEN 'If the calls are launches, launch less: fuse small '
            || 'kernels, and capture launches that repeat as a graph (CUDA graphs, HIP graphs). If '
            || 'they allocate, free or initialise, allocate once and keep the memory, and warm up '
            || 'before the recording.'
    END AS advice,
    CASE
        WHEN t.no_device_reason IS NOT NULL THEN t.no_device_reason
        WHEN coalesce(s.runtime_ns, 0) = 0 THEN concat(
            CASE
                WHEN t.format = 'kineto' OR s.is_marked THEN 'The steps of the trace have '
                ELSE 'The trace has '
            END,
            'device work and no runtime calls', t.calls_hint)
        ELSE t.too_little_reason
    END AS reason
FROM _rule_traces t
LEFT JOIN times s ON s.trace_id = t.trace_id
