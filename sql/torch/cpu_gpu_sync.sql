-- How long the host waits for the device, compared with how long the device works.
--
-- wait_ns is the union of the calls of device_syncs on all threads of a trace; gpu_busy_ns the union of kernels, copies and fills. verdict is high if
-- the first is more than sync_high_pct (20) percent of the second, medium above sync_pct (10), else low; not measurable without device work or runtime
-- calls. Waiting is no loss in itself: at the end of a step the host has nothing else to do. What costs is waiting between launches, after which the
-- device runs dry: tiny_copies and device_syncs say where.
--
-- Source: the CPU-GPU synchronisation rule of PRISM's training profiler, whose inputs were never filled.
-- Example: SELECT wait_ns, gpu_busy_ns, wait_pct, tiny_copies, verdict FROM cpu_gpu_sync
--
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column sync_calls BIGINT count Calls of synchronisation.
-- @column blocking_copies BIGINT count Copies that wait, tiny ones too.
-- @column tiny_copies BIGINT count Copies of a few bytes to the host, each of which waits for all work before it.
-- @column tiny_copies_per_step DOUBLE count Those in steps by number of steps; NULL without steps.
-- @column wait_ns BIGINT ns Time in which at least one thread waits for the device.
-- @column gpu_busy_ns BIGINT ns Time in which the device works.
-- @column wait_pct DOUBLE pct wait_ns as percent of gpu_busy_ns; NULL if that is 0.
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
)
SELECT
    t.trace_id, t.rank,
    coalesce(w.sync_calls, 0) AS sync_calls,
    coalesce(w.blocking_copies, 0) AS blocking_copies,
    coalesce(w.tiny_copies, 0) AS tiny_copies,
    CAST(coalesce(w.tiny_in_steps, 0) AS DOUBLE) / nullif(s.steps, 0) AS tiny_copies_per_step,
    coalesce(w.wait_ns, 0) AS wait_ns,
    coalesce(b.gpu_busy_ns, 0) AS gpu_busy_ns,
    100.0 * coalesce(w.wait_ns, 0) / nullif(b.gpu_busy_ns, 0) AS wait_pct,
    setting('sync_pct') AS threshold_pct,
    CASE
        WHEN coalesce(b.gpu_busy_ns, 0) = 0 OR (b.launched = 0 AND w.trace_id IS NULL) THEN 'not measurable'
        WHEN 100.0 * coalesce(w.wait_ns, 0) / b.gpu_busy_ns > setting('sync_high_pct') THEN 'high'
        WHEN 100.0 * coalesce(w.wait_ns, 0) / b.gpu_busy_ns > setting('sync_pct') THEN 'medium'
        ELSE 'low'
    END AS verdict
FROM traces t
LEFT JOIN waits w ON w.trace_id = t.trace_id
LEFT JOIN busy b ON b.trace_id = t.trace_id
LEFT JOIN stepped s ON s.trace_id = t.trace_id
WHERE t.format <> 'mllm_perf'
