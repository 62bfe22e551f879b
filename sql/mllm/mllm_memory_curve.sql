-- Memory of perf.json over time: bytes allocated on each device and on all devices, after each
-- change.
--
-- One row per instant and device with a change; the values hold until the next row. Frees and
-- allocations at one instant count together. Blobs that are never freed stay in the curve to its
-- end; blobs without a usable size are not in it (ingest_issues counts them). Times in the unit of
-- mllm_time_unit_ns (us unless set).
--
-- Source: the MLLM performance viewer, per device and without its confusion of us with ns.
-- Example: SELECT time, device_name, allocated_bytes, all_devices_bytes FROM mllm_memory_curve
--   ORDER BY ts_ns LIMIT 5
-- Range: any change_bytes; less than 0 where more ends than begins.
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column device_name VARCHAR text Device as written.
-- @column ts_ns BIGINT ns Time since init_time.
-- @column time DOUBLE number The same in the unit of mllm_time_unit_ns.
-- @column allocations BIGINT count Blobs that begin at this instant.
-- @column frees BIGINT count Blobs that end at this instant.
-- @column change_bytes BIGINT bytes Size of what begins less that of what ends.
-- @column allocated_bytes BIGINT bytes Allocated on the device from then on.
-- @column all_devices_bytes BIGINT bytes Allocated on all devices from then on.
WITH changes AS (
    SELECT
        m.trace_id, m.device_type AS device_name, m.ts_ns,
        count(*) FILTER (WHERE m.action = 'alloc') AS allocations,
        count(*) FILTER (WHERE m.action = 'free') AS frees,
        sum(m.bytes) AS change_bytes
    FROM memory m
    JOIN traces t ON t.trace_id = m.trace_id
    WHERE t.format = 'mllm_perf' AND m.bytes IS NOT NULL
    GROUP BY m.trace_id, m.device_type, m.ts_ns
)
SELECT
    trace_id, device_name, ts_ns,
    CAST(ts_ns AS DOUBLE) / setting('mllm_time_unit_ns') AS time,
    allocations, frees, change_bytes,
    sum(change_bytes) OVER (
        PARTITION BY trace_id, device_name ORDER BY ts_ns ROWS UNBOUNDED PRECEDING
    ) AS allocated_bytes,
    sum(change_bytes) OVER (
        PARTITION BY trace_id ORDER BY ts_ns RANGE UNBOUNDED PRECEDING
    ) AS all_devices_bytes
FROM changes
