-- Calls of modules with their place in the tree of modules, and launches with their enclosing
-- modules.
--
-- names are the enclosing modules and the module itself, starting with the outermost. The list is
-- empty for launches outside of modules. paths are the paths of the same modules: names joined by
-- dots, except for Lightning, whose names are whole paths. A trace without modules has no rows.
-- @scope trace
WITH launched AS (
    SELECT trace_id, launch_id, sum(dur_ns) AS device_ns, count(*) AS activities
    FROM kernels
    WHERE launch_id IS NOT NULL AND kind IN ('kernel', 'memcpy', 'memset')
    GROUP BY trace_id, launch_id
),
items AS (
    SELECT
        trace_id, event_id, track_id, ts_ns, end_ns, dur_ns, source, name, class,
        0 AS device_ns,
        0 AS activities,
        0 AS is_launch
    FROM _module_frames
    UNION ALL
    SELECT
        e.trace_id, e.event_id, e.track_id, e.ts_ns, e.end_ns, e.dur_ns, NULL, '', NULL,
        l.device_ns, l.activities,
        1 AS is_launch
    FROM events e
    JOIN launched l ON l.trace_id = e.trace_id AND l.launch_id = e.event_id
    WHERE e.dur_ns >= 0
),
nested AS (
    SELECT
        *,
        max(source) OVER (PARTITION BY trace_id) AS trace_source,
        nest_self(CASE WHEN is_launch = 0 THEN ts_ns END, end_ns) OVER track AS exclusive_ns,
        array_remove_all(stack(name, ts_ns, end_ns) OVER track, '') AS names
    FROM items
    WINDOW track AS (
        PARTITION BY trace_id, track_id ORDER BY ts_ns, end_ns DESC, is_launch, event_id
    )
)
SELECT
    trace_id, event_id,
    trace_source AS source,
    is_launch, ts_ns, dur_ns, exclusive_ns, device_ns, activities, class, names,
    CASE
        WHEN trace_source = 'lightning' THEN names[-1]
        ELSE array_to_string(names, '.')
    END AS path,
    CASE
        WHEN trace_source = 'lightning' THEN names[-2]
        WHEN array_length(names) > 1 THEN array_to_string(array_pop_back(names), '.')
    END AS parent_path
FROM nested
WHERE trace_source IS NOT NULL
