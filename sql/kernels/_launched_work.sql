-- Kernels, copies and fills with their launch and the enclosing operator or collective mark. The
-- columns of a missing launch, operator or mark are NULL.
-- @scope trace
WITH launches AS (
    SELECT
        trace_id, event_id, ts_ns, end_ns, owner_id, is_launch,
        parent_value(event_id, owner_id, name) OVER track AS owner_name,
        parent_value(event_id, owner_id, CAST(is_listed AS BIGINT)) OVER track
            = 1 AS owner_is_listed,
        parent_value(event_id, owner_id, CAST(is_collective AS BIGINT)) OVER track
            = 1 AS owner_is_collective
    FROM _host_links
    WINDOW track AS (
        PARTITION BY trace_id, track_id ORDER BY ts_ns, end_ns DESC, is_launch, event_id
    )
)
SELECT
    d.*,
    l.ts_ns AS launch_ts_ns,
    l.end_ns AS launch_end_ns,
    l.owner_id, l.owner_name, l.owner_is_listed, l.owner_is_collective
FROM _device_work d
LEFT JOIN launches l ON l.trace_id = d.trace_id AND l.event_id = d.launch_id AND l.is_launch = 1
