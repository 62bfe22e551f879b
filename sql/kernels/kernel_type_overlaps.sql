-- Busy time of each device, divided among the sets of kernel classes that run at once.
--
-- One row per device and set of classes. The times of a device add up to its busy time, because
-- each instant belongs to exactly one set. A set of one class is time in which nothing else runs. A
-- set such as communication + gemm is communication that is hidden by a product of matrices.
-- gpu_time_by_class divides such time among the classes.
--
-- Source: the kernel type breakdown of Holistic Trace Analysis, with the classes of kernel_classes
--   instead of three types; hta_kernel_type_breakdown has its own numbers.
-- Example: SELECT device, classes, busy_ns, share_pct FROM kernel_type_overlaps
--   ORDER BY busy_ns DESC LIMIT 10
-- Parts: busy_ns BY trace_id, device OF gpu_timeline_by_device.busy_time_ns
-- Holds: class_count >= 1 AND busy_ns > 0
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column device BIGINT id Device; NULL where none was written.
-- @column classes VARCHAR text The classes of the set in alphabetical order, joined by " + ".
-- @column class_count BIGINT count Number of classes in the set.
-- @column busy_ns BIGINT ns Time in which work of exactly these classes runs.
-- @column share_pct DOUBLE pct The same as percent of the device's busy time.
WITH overlaps AS (
    SELECT trace_id, device, unnest(interval_overlap_len(ts_ns, end_ns, class)) AS part
    FROM _device_work
    WHERE ts_ns IS NOT NULL
    GROUP BY trace_id, device
)
SELECT
    o.trace_id, t.rank, o.device,
    array_to_string(o.part['sets'], ' + ') AS classes,
    CAST(array_length(o.part['sets']) AS BIGINT) AS class_count,
    o.part['len'] AS busy_ns,
    100.0 * o.part['len']
        / nullif(sum(o.part['len']) OVER (PARTITION BY o.trace_id, o.device), 0) AS share_pct
FROM overlaps o
JOIN traces t ON t.trace_id = o.trace_id
WHERE o.part['len'] > 0
