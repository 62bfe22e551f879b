-- Time in which the host waits for the device, as a share of the steps, and idle time that follows.
--
-- wait_ns is the union of the calls of device_syncs on all threads of a trace; step_wait_ns the
-- part of it within the steps of the host, step_ns the length of their union; a trace without steps
-- counts from its first to its last operator, or device work if it has no operators. A wait after
-- the last step, such as when the profiler stops, is not part of the loop and does not count in
-- step_wait_ns. verdict is high if step_wait_ns is more than sync_high_pct (20) percent of step_ns,
-- medium above sync_pct (10), else low; not measurable without device work or runtime calls.
-- Waiting is not a loss in itself: at the end of a step the host has nothing else to do. Waiting
-- between launches costs time if the device runs out of work afterwards: idle_ns. tiny_copies and
-- device_syncs say where.
--
-- Source: the CPU-GPU synchronisation rule of PRISM's training profiler, whose inputs were never
--   filled; it divides by the time in which the device works.
-- Example: SELECT step_wait_ns, step_ns, wait_pct, idle_ns, tiny_copies, verdict FROM cpu_gpu_sync
-- Holds: step_wait_ns <= wait_ns AND step_wait_ns <= step_ns
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column sync_calls BIGINT count Calls of synchronisation.
-- @column blocking_copies BIGINT count Copies that wait, tiny ones too.
-- @column tiny_copies BIGINT count Copies of a few bytes to the host, each of which waits for all
--   work before it.
-- @column tiny_copies_per_step DOUBLE count Those in steps by number of steps; NULL without steps.
-- @column wait_ns BIGINT ns Time in which at least one thread waits for the device.
-- @column step_wait_ns BIGINT ns The part of wait_ns within steps.
-- @column step_ns BIGINT ns Time within steps; 0 if there are no steps, operators or device work.
-- @column gpu_busy_ns BIGINT ns Time in which a device works.
-- @column idle_ns BIGINT ns Gaps that begin within steps and come from such waits
--   (synchronisation_ns of gpu_idle_gaps), of the device that has most of it.
-- @column wait_pct DOUBLE pct step_wait_ns as percent of step_ns; NULL if that is 0, or without
--   device work.
-- @column idle_pct DOUBLE pct idle_ns as percent of step_ns; NULL if that is 0, or without device
--   work.
-- @column threshold_pct DOUBLE pct Percentage above which it is medium.
-- @column verdict VARCHAR text high, medium, low or not measurable.
WITH waits AS (
    SELECT
        trace_id,
        count(*) FILTER (WHERE kind = 'sync') AS sync_calls,
        count(*) FILTER (WHERE kind <> 'sync') AS blocking_copies,
        count(*) FILTER (WHERE is_tiny) AS tiny_copies,
        count(*) FILTER (WHERE is_tiny AND step IS NOT NULL) AS tiny_in_steps,
        interval_union_len(ts_ns, end_ns) AS wait_ns
    FROM _device_syncs
    GROUP BY trace_id
),
busy AS (
    SELECT trace_id, interval_union_len(ts_ns, end_ns) AS gpu_busy_ns, count(launch_id) AS launched
    FROM kernels
    WHERE kind IN ('kernel', 'memcpy', 'memset') AND dur_ns >= 0
    GROUP BY trace_id
),
stepped AS (
    SELECT trace_id, count(DISTINCT step) AS steps FROM steps GROUP BY trace_id
),
-- The overlap of waits and steps is the sum of their lengths minus the length of their union.
within AS (
    SELECT
        trace_id, interval_union_len(ts_ns, end_ns) FILTER (WHERE is_step) AS step_ns,
        interval_union_len(ts_ns, end_ns) FILTER (WHERE is_step)
            + interval_union_len(ts_ns, end_ns) FILTER (WHERE NOT is_step)
            - interval_union_len(ts_ns, end_ns) AS wait_ns
    FROM (
        SELECT trace_id, ts_ns, end_ns, false AS is_step FROM _device_syncs
        UNION ALL
        SELECT trace_id, start_ns, end_ns, true FROM _host_steps
    )
    GROUP BY trace_id
),
windows AS (
    SELECT trace_id, min(start_ns) AS start_ns, max(end_ns) AS end_ns
    FROM _host_steps
    GROUP BY trace_id
),
idle AS (
    SELECT trace_id, max(idle_ns) AS idle_ns
    FROM (
        SELECT
            p.trace_id, p.device,
            sum(least(p.synchronisation_ns, w.end_ns - p.start_ns)) AS idle_ns
        FROM _idle_parts p
        JOIN windows w ON w.trace_id = p.trace_id
        WHERE p.start_ns >= w.start_ns AND p.start_ns < w.end_ns
        GROUP BY p.trace_id, p.device
    )
    GROUP BY trace_id
)
SELECT
    t.trace_id, t.rank,
    coalesce(w.sync_calls, 0) AS sync_calls,
    coalesce(w.blocking_copies, 0) AS blocking_copies,
    coalesce(w.tiny_copies, 0) AS tiny_copies,
    CAST(coalesce(w.tiny_in_steps, 0) AS DOUBLE) / nullif(s.steps, 0) AS tiny_copies_per_step,
    coalesce(w.wait_ns, 0) AS wait_ns,
    coalesce(x.wait_ns, 0) AS step_wait_ns,
    coalesce(x.step_ns, 0) AS step_ns,
    coalesce(b.gpu_busy_ns, 0) AS gpu_busy_ns,
    coalesce(i.idle_ns, 0) AS idle_ns,
    CASE
        WHEN b.gpu_busy_ns > 0 THEN 100.0 * coalesce(x.wait_ns, 0) / nullif(x.step_ns, 0)
    END AS wait_pct,
    CASE
        WHEN b.gpu_busy_ns > 0 THEN 100.0 * coalesce(i.idle_ns, 0) / nullif(x.step_ns, 0)
    END AS idle_pct,
    setting('sync_pct') AS threshold_pct,
    CASE
        WHEN coalesce(b.gpu_busy_ns, 0) = 0
            OR (b.launched = 0 AND w.trace_id IS NULL)
            OR coalesce(x.step_ns, 0) = 0
            THEN 'not measurable'
        WHEN 100.0 * coalesce(x.wait_ns, 0) > setting('sync_high_pct') * x.step_ns THEN 'high'
        WHEN 100.0 * coalesce(x.wait_ns, 0) > setting('sync_pct') * x.step_ns THEN 'medium'
        ELSE 'low'
    END AS verdict
FROM traces t
LEFT JOIN waits w ON w.trace_id = t.trace_id
LEFT JOIN busy b ON b.trace_id = t.trace_id
LEFT JOIN stepped s ON s.trace_id = t.trace_id
LEFT JOIN within x ON x.trace_id = t.trace_id
LEFT JOIN idle i ON i.trace_id = t.trace_id
WHERE t.format NOT IN (
    'mllm_perf', 'torch_memory', 'flight_recorder', 'execution_trace', 'memory_timeline',
    'stacks'
)
