-- Summary of perf.json recordings: blobs, peak, operations, and the blobs still alive at the end.
--
-- The peak is that of all devices together; memory_peak has that of each. Times in the unit of
-- mllm_time_unit_ns (us unless set). Blobs that were freed but never allocated in the recording
-- (start_time 0) are left out; ingest_issues counts them.
--
-- Source: the summary of the MLLM performance viewer.
-- Example: SELECT blobs, peak_bytes, memory_duration, lanes, alive_blobs FROM mllm_summary
-- Holds: alive_blobs <= blobs
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column path VARCHAR text The input as it was named.
-- @column devices BIGINT count Devices that hold blobs.
-- @column blobs BIGINT count Memory blobs.
-- @column memory_duration DOUBLE number From the first start of a blob to the last end, in the unit
--   of mllm_time_unit_ns.
-- @column memory_duration_ns BIGINT ns The same.
-- @column peak_bytes BIGINT bytes Most that was allocated at once on all devices.
-- @column peak_ts_ns BIGINT ns When that was first reached.
-- @column lanes BIGINT count Lanes that mllm_blobs needs.
-- @column alive_blobs BIGINT count Blobs that were not freed.
-- @column alive_bytes BIGINT bytes Their size.
-- @column operations BIGINT count Operations.
-- @column operations_duration DOUBLE number From the first start of an operation to the last end,
--   in the unit of mllm_time_unit_ns; NULL without any.
WITH blobs AS (
    SELECT
        trace_id,
        count(DISTINCT device_name) AS devices,
        count(*) AS blobs,
        max(end_ns) - min(start_ns) AS memory_duration_ns,
        max(lane) + 1 AS lanes,
        count(*) FILTER (WHERE is_alive) AS alive_blobs,
        coalesce(sum(bytes) FILTER (WHERE is_alive), 0) AS alive_bytes
    FROM mllm_blobs
    GROUP BY trace_id
),
peaks AS (
    SELECT
        trace_id,
        max(all_devices_bytes) AS peak_bytes,
        first_value(ts_ns ORDER BY all_devices_bytes DESC, ts_ns) AS peak_ts_ns
    FROM mllm_memory_curve
    GROUP BY trace_id
),
operations AS (
    SELECT trace_id, count(*) AS operations, max(end_ns) - min(start_ns) AS duration_ns
    FROM mllm_operations
    GROUP BY trace_id
)
SELECT
    t.trace_id, t.path,
    coalesce(b.devices, 0) AS devices, coalesce(b.blobs, 0) AS blobs,
    CAST(coalesce(b.memory_duration_ns, 0) AS DOUBLE)
        / setting('mllm_time_unit_ns') AS memory_duration,
    coalesce(b.memory_duration_ns, 0) AS memory_duration_ns,
    coalesce(p.peak_bytes, 0) AS peak_bytes, p.peak_ts_ns, coalesce(b.lanes, 0) AS lanes,
    coalesce(b.alive_blobs, 0) AS alive_blobs, coalesce(b.alive_bytes, 0) AS alive_bytes,
    coalesce(o.operations, 0) AS operations,
    CAST(o.duration_ns AS DOUBLE) / setting('mllm_time_unit_ns') AS operations_duration
FROM traces t
LEFT JOIN blobs b ON b.trace_id = t.trace_id
LEFT JOIN peaks p ON p.trace_id = t.trace_id
LEFT JOIN operations o ON o.trace_id = t.trace_id
WHERE t.format = 'mllm_perf'
