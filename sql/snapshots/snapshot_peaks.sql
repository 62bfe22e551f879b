-- Peak of live memory on each device of memory snapshots, and the state at the end.
--
-- The peak is the greatest value of live_bytes in snapshot_timeline, at the first entry that
-- reaches it. It is at no entry if no entry exceeds what was live before the history. Figures of
-- blocks are those at the time of the snapshot.
--
-- Source: pytorch/torch/utils/viz/MemoryViz.js and _memory_viz.py.
-- Example: SELECT device, initial_bytes, peak_bytes, peak_entry, end_bytes, reserved_bytes
--   FROM snapshot_peaks
-- Holds: end_bytes <= peak_bytes
-- Holds: initial_bytes <= peak_bytes
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column device BIGINT id Device number; -1 is the host.
-- @column entries BIGINT count Entries of its history.
-- @column allocs BIGINT count Allocations in the history.
-- @column frees BIGINT count Completed frees in the history.
-- @column ooms BIGINT count Allocations that failed for lack of memory.
-- @column initial_bytes BIGINT bytes Live before the history; NULL if the file was cut.
-- @column peak_bytes BIGINT bytes Most that was live at once; NULL if the file was cut.
-- @column peak_entry BIGINT number Entry of snapshot_timeline that reached it; NULL if it was before
--   the history.
-- @column peak_event_id BIGINT id The same as an event (events.event_id).
-- @column peak_ts_ns BIGINT ns Its time; NULL if not recorded.
-- @column reserved_at_peak_bytes BIGINT bytes Reserved at the peak.
-- @column end_bytes BIGINT bytes Live at the end; NULL if the file was cut.
-- @column segments BIGINT count Segments at the end.
-- @column reserved_bytes BIGINT bytes Their size.
-- @column allocated_bytes BIGINT bytes Size of allocated blocks.
-- @column requested_bytes BIGINT bytes What the program asked for in them.
-- @column pending_bytes BIGINT bytes Size of blocks whose free waits for other streams.
-- @column inactive_bytes BIGINT bytes Size of free blocks.
-- @column largest_inactive_bytes BIGINT bytes Size of the largest free block; 0 without one.
WITH highest AS (
    SELECT
        *,
        max(live_bytes) OVER (PARTITION BY trace_id, device) AS highest_bytes,
        first_value(
            live_bytes - CASE WHEN action IN ('alloc', 'free') THEN coalesce(bytes, 0) ELSE 0 END
        ) OVER (PARTITION BY trace_id, device ORDER BY entry) AS first_bytes
    FROM snapshot_timeline
),
histories AS (
    SELECT
        trace_id, device,
        count(*) AS entries,
        count(*) FILTER (WHERE action = 'alloc') AS allocs,
        count(*) FILTER (WHERE action = 'free') AS frees,
        count(*) FILTER (WHERE action = 'oom') AS ooms,
        max(first_bytes) AS initial_bytes,
        max(highest_bytes) AS highest_bytes,
        min(entry) FILTER (WHERE live_bytes = highest_bytes AND highest_bytes > first_bytes)
            AS peak_entry,
        min(event_id) FILTER (WHERE live_bytes = highest_bytes AND highest_bytes > first_bytes)
            AS peak_event_id,
        first_value(reserved_bytes ORDER BY live_bytes DESC, entry) AS reserved_at_peak_bytes,
        last_value(live_bytes ORDER BY entry) AS end_bytes
    FROM highest
    GROUP BY trace_id, device
),
segments AS (
    SELECT trace_id, device, count(*) AS segments, sum(total_bytes) AS reserved_bytes
    FROM memory_segments
    GROUP BY trace_id, device
),
blocks AS (
    SELECT
        trace_id, device,
        coalesce(sum(bytes) FILTER (WHERE state = 'active_allocated'), 0) AS allocated_bytes,
        coalesce(
            sum(coalesce(requested_bytes, bytes)) FILTER (WHERE state = 'active_allocated'), 0
        ) AS requested_bytes,
        coalesce(sum(bytes) FILTER (WHERE state NOT IN ('active_allocated', 'inactive')), 0)
            AS pending_bytes,
        coalesce(sum(bytes) FILTER (WHERE state = 'inactive'), 0) AS inactive_bytes,
        coalesce(max(bytes) FILTER (WHERE state = 'inactive'), 0) AS largest_inactive_bytes
    FROM memory_blocks
    GROUP BY trace_id, device
),
devices_of AS (
    SELECT trace_id, device FROM histories
    UNION
    SELECT trace_id, device FROM segments
)
SELECT
    d.trace_id, d.device,
    coalesce(h.entries, 0) AS entries, coalesce(h.allocs, 0) AS allocs,
    coalesce(h.frees, 0) AS frees, coalesce(h.ooms, 0) AS ooms,
    CASE WHEN h.entries IS NULL THEN b.requested_bytes ELSE h.initial_bytes END AS initial_bytes,
    CASE
        WHEN h.entries IS NULL THEN b.requested_bytes
        ELSE greatest(h.highest_bytes, h.initial_bytes)
    END AS peak_bytes,
    h.peak_entry, h.peak_event_id, e.ts_ns AS peak_ts_ns, h.reserved_at_peak_bytes,
    CASE WHEN h.entries IS NULL THEN b.requested_bytes ELSE h.end_bytes END AS end_bytes,
    coalesce(s.segments, 0) AS segments, coalesce(s.reserved_bytes, 0) AS reserved_bytes,
    coalesce(b.allocated_bytes, 0) AS allocated_bytes,
    coalesce(b.requested_bytes, 0) AS requested_bytes,
    coalesce(b.pending_bytes, 0) AS pending_bytes,
    coalesce(b.inactive_bytes, 0) AS inactive_bytes,
    coalesce(b.largest_inactive_bytes, 0) AS largest_inactive_bytes
FROM devices_of d
LEFT JOIN histories h ON h.trace_id = d.trace_id AND h.device = d.device
LEFT JOIN segments s ON s.trace_id = d.trace_id AND s.device = d.device
LEFT JOIN blocks b ON b.trace_id = d.trace_id AND b.device = d.device
LEFT JOIN memory e ON e.trace_id = d.trace_id AND e.event_id = h.peak_event_id
