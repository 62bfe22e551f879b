-- Allocations that failed for lack of memory: what each needed, what there was, why it did not fit.
--
-- One row per entry `oom` of a history. Before the allocator fails it gives free segments back to
-- the driver and asks it for a new segment, so the driver's free memory and free blocks are both
-- known. unused_bytes is reserved memory that no live allocation holds at that moment; it includes
-- the rounding of sizes. Blocks are known only for the end of the history: is_at_end states whether
-- no memory changed hands since. verdict:
-- - fragmented: free and unused memory together would suffice, but not in one piece
-- - too_big: more than the program reserved and the driver has left, so it would not even fit alone
-- - full: live memory leaves too little
-- - unknown: the driver's free memory or the totals are not recorded
--
-- What other processes hold on the device is not recorded; it is the device's size less
-- reserved_bytes and device_free_bytes.
--
-- Source: pytorch/c10/cuda/CUDACachingAllocator.cpp.
-- Example: SELECT device, requested_bytes, device_free_bytes, live_bytes, missing_bytes, verdict
--   FROM snapshot_ooms
-- Range: any unused_bytes; blocks that wait for a stream may be live without a segment left.
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column device BIGINT id Device number.
-- @column event_id BIGINT id The entry (events.event_id).
-- @column ts_ns BIGINT ns Time since 1970; NULL if not recorded.
-- @column requested_bytes BIGINT bytes Size of the segment that the allocator asked for.
-- @column device_free_bytes BIGINT bytes Free memory of the device by the driver; NULL if not
--   recorded.
-- @column live_bytes BIGINT bytes Live memory of the program; NULL if the file was cut.
-- @column reserved_bytes BIGINT bytes Reserved by the program; NULL if the file was cut.
-- @column unused_bytes BIGINT bytes reserved_bytes less live_bytes.
-- @column missing_bytes BIGINT bytes What the driver lacks for the request; 0 if nothing.
-- @column inactive_bytes BIGINT bytes Free blocks at the end of the history.
-- @column largest_inactive_bytes BIGINT bytes Largest free block at the end of the history.
-- @column is_at_end BOOLEAN flag Whether blocks are as they were when it failed.
-- @column verdict VARCHAR text fragmented, too_big, full or unknown.
-- @column site VARCHAR text Innermost frame of the program; NULL without a stack.
-- @column stack_id BIGINT id Where it failed (snapshot_stacks.stack_id); NULL if not recorded.
WITH failed AS (
    SELECT
        t.trace_id, t.device, t.event_id, t.ts_ns, t.bytes AS requested_bytes,
        json_get_int(e.args, 'device_free') AS device_free_bytes,
        t.live_bytes, t.reserved_bytes, t.stack_id,
        p.inactive_bytes, p.largest_inactive_bytes
    FROM snapshot_timeline t
    JOIN events e ON e.trace_id = t.trace_id AND e.event_id = t.event_id
    JOIN snapshot_peaks p ON p.trace_id = t.trace_id AND p.device = t.device
    WHERE t.action = 'oom'
),
last_changes AS (
    SELECT trace_id, device, max(event_id) AS event_id
    FROM snapshot_timeline
    WHERE action NOT IN ('oom', 'snapshot', 'annotate', 'free_requested')
    GROUP BY trace_id, device
)
SELECT
    f.trace_id, f.device, f.event_id, f.ts_ns, f.requested_bytes, f.device_free_bytes,
    f.live_bytes, f.reserved_bytes,
    f.reserved_bytes - f.live_bytes AS unused_bytes,
    greatest(f.requested_bytes - f.device_free_bytes, 0) AS missing_bytes,
    f.inactive_bytes, f.largest_inactive_bytes,
    l.event_id IS NULL OR f.event_id IS NULL OR l.event_id < f.event_id AS is_at_end,
    CASE
        WHEN f.device_free_bytes IS NULL OR f.reserved_bytes IS NULL OR f.requested_bytes IS NULL
            THEN 'unknown'
        WHEN f.requested_bytes > f.reserved_bytes + f.device_free_bytes THEN 'too_big'
        WHEN f.requested_bytes <= f.reserved_bytes - f.live_bytes + f.device_free_bytes
            THEN 'fragmented'
        ELSE 'full'
    END AS verdict,
    s.site, f.stack_id
FROM failed f
LEFT JOIN last_changes l ON l.trace_id = f.trace_id AND l.device = f.device
LEFT JOIN snapshot_stacks s ON s.trace_id = f.trace_id AND s.stack_id = f.stack_id
