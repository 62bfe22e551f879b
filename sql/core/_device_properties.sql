-- Properties of each device of a trace, one row per device. If a trace describes a device more than
-- once, values that differ between the descriptions are NULL.
-- @scope trace
SELECT
    trace_id, device,
    CASE WHEN min(name) = max(name) THEN max(name) END AS name,
    CASE
        WHEN min(total_memory_bytes) = max(total_memory_bytes) THEN max(total_memory_bytes)
    END AS total_memory_bytes,
    CASE WHEN min(compute_major) = max(compute_major) THEN max(compute_major) END AS compute_major,
    CASE WHEN min(compute_minor) = max(compute_minor) THEN max(compute_minor) END AS compute_minor,
    CASE WHEN min(warp_size) = max(warp_size) THEN max(warp_size) END AS warp_size
FROM devices
WHERE device IS NOT NULL
GROUP BY trace_id, device
