-- Allocations that were live when their device reached its peak, with stack and category.
--
-- The sum of bytes over a device is its peak (snapshot_peaks.peak_bytes). A flame graph of live
-- memory: `tracesql flamegraph STORE -c "SELECT stack, bytes AS live_bytes FROM
-- snapshot_live_at_peak" -o live.svg`.
--
-- Source: pytorch/torch/utils/viz/MemoryViz.js.
-- Example: SELECT device, count(*) AS allocations, sum(bytes) AS bytes FROM snapshot_live_at_peak
--   GROUP BY device
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column device BIGINT id Device number; -1 is the host.
-- @column allocation_id BIGINT id The allocation (snapshot_allocations.allocation_id).
-- @column bytes BIGINT bytes Bytes that the program asked for.
-- @column size_class VARCHAR text How the allocator serves its size: small (up to 1 MiB, from
--   segments of 2 MiB), shared (up to 10 MiB, from segments of 20 MiB) or own (more, from segments of
--   their own).
-- @column category VARCHAR text Category that was recorded with the alloc, else that of its stack
--   (snapshot_stacks.category); unknown without a stack.
-- @column is_before_history BOOLEAN flag Whether it was allocated before the history.
-- @column is_live_at_end BOOLEAN flag Whether it is still live at the end.
-- @column stack_id BIGINT id Where it was allocated; NULL if not recorded.
-- @column site VARCHAR text Innermost frame of the program (snapshot_stacks.site); NULL without a
--   stack.
-- @column stack VARCHAR[] list Frames, root first; `(no stack)` without them.
WITH recorded AS (
    SELECT m.trace_id, m.event_id, json_get_str(e.args, 'category') AS category
    FROM memory m
    JOIN events e ON e.trace_id = m.trace_id AND e.event_id = m.event_id
    WHERE m.allocation_id = m.event_id AND contains(e.args, '"category"')
)
SELECT
    a.trace_id, a.device, a.allocation_id, a.bytes,
    CASE
        WHEN a.bytes <= 1048576 THEN 'small' WHEN a.bytes < 10485760 THEN 'shared' ELSE 'own'
    END AS size_class,
    coalesce(r.category, s.category, 'unknown') AS category,
    a.alloc_event_id IS NULL AS is_before_history,
    a.state IN ('live', 'pending') AS is_live_at_end,
    a.stack_id, s.site,
    coalesce(s.stack, ['(no stack)']) AS stack
FROM snapshot_allocations a
JOIN snapshot_peaks p ON p.trace_id = a.trace_id AND p.device = a.device
LEFT JOIN snapshot_stacks s ON s.trace_id = a.trace_id AND s.stack_id = a.stack_id
LEFT JOIN recorded r ON r.trace_id = a.trace_id AND r.event_id = a.alloc_event_id
WHERE
    a.is_counted
    AND (a.alloc_event_id IS NULL OR a.alloc_event_id <= p.peak_event_id)
    AND (a.end_event_id IS NULL OR a.end_event_id > coalesce(p.peak_event_id, -1))
