-- Memory at the peak of each device by its stack, category or size.
-- @expand snapshot_peak_by_stack by="stack" keys="stack_id, category, site" stack
-- @expand snapshot_peak_by_category by="category" keys="category" category
-- @expand snapshot_peak_by_size by="size class" keys="size_class" size
--
-- What was live at the peak of each device, by {by}.
--
-- Shares are of the device's peak (snapshot_peaks.peak_bytes), which all rows of a device add up
-- to.
--
-- Source: pytorch/torch/utils/viz/MemoryViz.js.
-- Example: SELECT {keys}, allocations, bytes FROM {view} ORDER BY bytes DESC LIMIT 5
-- Holds: largest_bytes <= bytes
-- Parts: bytes BY trace_id, device OF snapshot_live_at_peak.bytes
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column device BIGINT id Device number; -1 is the host.
-- @if stack
-- @column stack_id BIGINT id The stack (memory_stacks.stack_id); NULL for memory without one.
-- @column category VARCHAR text Category (snapshot_live_at_peak.category).
-- @column site VARCHAR text Innermost frame of the program; NULL for memory without a stack.
-- @end
-- @if category
-- @column category VARCHAR text Category (snapshot_live_at_peak.category).
-- @end
-- @if size
-- @column size_class VARCHAR text small, shared or own (snapshot_live_at_peak.size_class).
-- @end
-- @column allocations BIGINT count Allocations.
-- @column bytes BIGINT bytes Their size.
-- @column largest_bytes BIGINT bytes Size of the largest.
-- @column live_at_end_bytes BIGINT bytes Size of those that are still live at the end.
-- @column share_pct DOUBLE pct bytes as percent of the device's peak; NULL if that is 0.
SELECT
    trace_id, device, {keys},
    count(*) AS allocations,
    sum(bytes) AS bytes,
    max(bytes) AS largest_bytes,
    coalesce(sum(bytes) FILTER (WHERE is_live_at_end), 0) AS live_at_end_bytes,
    100.0 * sum(bytes) / nullif(sum(sum(bytes)) OVER (PARTITION BY trace_id, device), 0)
        AS share_pct
FROM snapshot_live_at_peak
GROUP BY trace_id, device, {keys}
