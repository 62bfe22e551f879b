-- Composition of the memory peak of each device, by operator and module.
--
-- The rows of a device add up to memory_peak.peak_allocated_bytes. kind says what a row is:
-- allocation for memory whose allocation was recorded, before for memory that was taken before the
-- recording and freed later in it, unknown for what is left: memory that was taken before the
-- recording and never freed, or whose records are missing; it is negative where frees of such
-- memory hide allocations that are still there.
--
-- Example: SELECT device, kind, op_name, bytes, share_pct FROM peak_composition ORDER BY bytes DESC
--   LIMIT 10
-- Parts: bytes BY trace_id, device_type, device OF memory_peak.peak_allocated_bytes
-- Range: any bytes; less than 0 for kind unknown, where frees of memory taken before the recording
--   hide allocations.
-- Holds: abs(sum(share_pct) OVER (PARTITION BY trace_id, device_type, device) - 100) < 0.000001
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column device_type VARCHAR text cpu, cuda, …; the device's name for perf.json.
-- @column device BIGINT id Device number; -1 is the host; NULL if not recorded.
-- @column kind VARCHAR text allocation, before or unknown.
-- @column op_name VARCHAR text The operator that allocated; NULL for none.
-- @column module_path VARCHAR text The modules around the allocation; NULL for none.
-- @column alloc_step BIGINT id Step of the allocation; NULL outside steps.
-- @column allocations BIGINT count Allocations of the row; NULL for kind unknown.
-- @column bytes BIGINT bytes Their size.
-- @column largest_bytes BIGINT bytes The largest of them; NULL for kind unknown.
-- @column share_pct DOUBLE pct bytes as percent of the peak of the device; NULL if that is 0, and
--   on devices where kind unknown is negative, as their rows are not shares of the peak.
WITH held AS (
    SELECT
        trace_id, rank, device_type, device,
        CASE state WHEN 'alloc_not_recorded' THEN 'before' ELSE 'allocation' END AS kind,
        op_name, module_path, alloc_step,
        1 AS allocations, bytes, bytes AS largest_bytes
    FROM allocations
    WHERE is_at_peak
    UNION ALL
    SELECT
        trace_id, rank, device_type, device, 'unknown', NULL, NULL, NULL, 0, peak_allocated_bytes,
        NULL
    FROM memory_peak
),
grouped AS (
    SELECT
        trace_id, rank, device_type, device, kind, op_name, module_path, alloc_step,
        sum(allocations) AS allocations, sum(bytes) AS bytes, max(largest_bytes) AS largest_bytes,
        sum(CASE WHEN kind <> 'unknown' THEN sum(bytes) END)
            OVER (PARTITION BY trace_id, device_type, device) AS known_bytes,
        sum(CASE WHEN kind = 'unknown' THEN sum(bytes) END)
            OVER (PARTITION BY trace_id, device_type, device) AS peak_bytes
    FROM held
    GROUP BY trace_id, rank, device_type, device, kind, op_name, module_path, alloc_step
),
-- At first the row unknown contains the whole peak. The known parts are subtracted here.
rest AS (
    SELECT
        *,
        CASE WHEN kind = 'unknown' THEN bytes - coalesce(known_bytes, 0) ELSE bytes END AS row_bytes
    FROM grouped
)
SELECT
    trace_id, rank, device_type, device, kind, op_name, module_path, alloc_step,
    CASE WHEN kind <> 'unknown' THEN allocations END AS allocations,
    row_bytes AS bytes,
    largest_bytes,
    CASE
        WHEN coalesce(known_bytes, 0) <= peak_bytes THEN 100.0 * row_bytes / nullif(peak_bytes, 0)
    END AS share_pct
FROM rest
WHERE kind <> 'unknown' OR row_bytes <> 0
