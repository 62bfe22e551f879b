-- Peak of allocated memory on each device, and its time.
--
-- The peak is the greatest value of memory_curve, at the first time it is reached. The device's
-- size comes from deviceProperties.
--
-- Source: the memory view of torch-tb-profiler 0.4.3.
-- Example: SELECT device_type, device, peak_allocated_bytes, peak_ts_ns FROM memory_peak
-- Holds: end_allocated_bytes <= peak_allocated_bytes
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column device_type VARCHAR text cpu, cuda, …; the device's name for perf.json.
-- @column device BIGINT id Device number; -1 is the host; NULL if not recorded.
-- @column peak_allocated_bytes BIGINT bytes Most that was allocated at once.
-- @column peak_ts_ns BIGINT ns When it was first reached.
-- @column peak_step BIGINT id The step in which it was; NULL outside steps.
-- @column peak_event_id BIGINT id The allocation that reached it (events.event_id).
-- @column reserved_at_peak_bytes BIGINT bytes Reserved by the allocator at that time; NULL if not
--   recorded.
-- @column peak_reserved_bytes BIGINT bytes Most that was reserved at once; NULL if not recorded.
-- @column start_allocated_bytes BIGINT bytes Allocated before the first record; 0 where the
--   profiler wrote no totals; NULL where its first total is less than the first record adds.
-- @column end_allocated_bytes BIGINT bytes Allocated after the last record.
-- @column allocations BIGINT count Allocations recorded.
-- @column frees BIGINT count Frees recorded.
-- @column total_memory_bytes BIGINT bytes Size of the device's memory; NULL if not recorded.
-- @column peak_pct DOUBLE pct peak_allocated_bytes as percent of total_memory_bytes; NULL if that
--   is not recorded.
WITH peaks AS (
    SELECT
        trace_id, rank, device_type, device,
        max(allocated_bytes) AS peak_allocated_bytes,
        max(CASE WHEN record = peak_record THEN ts_ns END) AS peak_ts_ns,
        max(CASE WHEN record = peak_record THEN step END) AS peak_step,
        max(CASE WHEN record = peak_record THEN event_id END) AS peak_event_id,
        max(CASE WHEN record = peak_record THEN reserved_bytes END) AS reserved_at_peak_bytes,
        max(reserved_bytes) AS peak_reserved_bytes,
        first_value(
            CASE WHEN allocated_bytes >= bytes THEN allocated_bytes - bytes END ORDER BY record
        ) AS start_allocated_bytes,
        last_value(allocated_bytes ORDER BY record) AS end_allocated_bytes,
        count(*) FILTER (WHERE action = 'alloc') AS allocations,
        count(*) FILTER (WHERE action = 'free') AS frees
    FROM _memory_peaks
    GROUP BY trace_id, rank, device_type, device
)
SELECT
    p.*,
    d.total_memory_bytes,
    100.0 * p.peak_allocated_bytes / nullif(d.total_memory_bytes, 0) AS peak_pct
FROM peaks p
LEFT JOIN _device_properties d ON d.trace_id = p.trace_id AND d.device = p.device
