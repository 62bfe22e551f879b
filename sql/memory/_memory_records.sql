-- Allocator records in their order on each device, with the allocated memory after each record.
--
-- record counts the records of a device from 1. The start and end of a blob of perf.json share an
-- event, and blob_id distinguishes blobs with the same uuid. In perf.json, frees come before
-- allocations at the same instant, because its clock counts whole microseconds. If the profiler did
-- not write totals, allocated_bytes is the sum of all changes since the recording began. Records
-- without a usable size do not change that sum, and ingest_issues counts them. Of a memory snapshot
-- only allocations and completed frees are records.
-- @scope trace
WITH records AS (
    SELECT
        m.trace_id, t.rank, t.format, m.device_type, m.device, m.step, m.event_id, m.ts_ns,
        m.action, m.addr, m.bytes,
        m.total_allocated_bytes, m.total_reserved_bytes,
        CASE WHEN t.format = 'mllm_perf' THEN m.event_id END AS blob_id,
        CASE WHEN t.format = 'mllm_perf' AND m.action = 'free' THEN 0 ELSE 1 END AS turn
    FROM memory m
    JOIN traces t ON t.trace_id = m.trace_id
    WHERE m.action IN ('alloc', 'free')
),
summed AS (
    SELECT
        *,
        CAST(row_number() OVER so_far AS BIGINT) AS record,
        running_sum(coalesce(bytes, 0)) OVER so_far AS summed_bytes,
        count(total_allocated_bytes) OVER (PARTITION BY trace_id, device_type, device)
            > 0 AS is_recorded
    FROM records
    WINDOW so_far AS (
        PARTITION BY trace_id, device_type, device
        ORDER BY ts_ns, turn, event_id ROWS UNBOUNDED PRECEDING
    )
)
SELECT
    trace_id, rank, format, device_type, device, step, event_id, ts_ns, action, addr, bytes,
    blob_id, record, is_recorded,
    CASE WHEN is_recorded THEN total_allocated_bytes ELSE summed_bytes END AS allocated_bytes,
    total_reserved_bytes AS reserved_bytes
FROM summed
