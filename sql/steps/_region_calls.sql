-- Calls of regions, with their self time relative to other regions and the device time launched
-- inside.
-- @scope trace
WITH launched AS (
    SELECT trace_id, launch_id, sum(dur_ns) AS device_ns
    FROM kernels
    WHERE launch_id IS NOT NULL AND kind IN ('kernel', 'memcpy', 'memset')
    GROUP BY trace_id, launch_id
),
items AS (
    SELECT
        trace_id, event_id, track_id, step, name, ts_ns, end_ns, dur_ns,
        CAST(NULL AS BIGINT) AS device_ns,
        0 AS is_launch
    FROM _regions
    UNION ALL
    SELECT
        e.trace_id, e.event_id, e.track_id, e.step, NULL, e.ts_ns, e.end_ns, e.dur_ns, l.device_ns,
        1
    FROM events e
    JOIN launched l ON l.trace_id = e.trace_id AND l.launch_id = e.event_id
    WHERE e.dur_ns >= 0
),
nested AS (
    SELECT
        *,
        nest_parent(
            CASE WHEN is_launch = 0 THEN event_id END, ts_ns, end_ns
        ) OVER track AS parent_id,
        nest_self(CASE WHEN is_launch = 0 THEN ts_ns END, end_ns) OVER track AS self_ns
    FROM items
    WINDOW track AS (
        PARTITION BY trace_id, track_id ORDER BY ts_ns, end_ns DESC, is_launch, event_id
    )
),
summed AS (
    SELECT
        *,
        subtree_sum(event_id, parent_id, device_ns) OVER track AS device_total_ns,
        parent_value(event_id, parent_id, name) OVER track AS parent_name
    FROM nested
    WINDOW track AS (
        PARTITION BY trace_id, track_id ORDER BY ts_ns, end_ns DESC, is_launch, event_id
    )
)
SELECT
    trace_id, event_id, track_id, step, name, parent_name, ts_ns, end_ns, dur_ns, self_ns,
    device_total_ns
FROM summed
WHERE is_launch = 0
