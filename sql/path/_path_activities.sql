-- The work that critical paths consist of: events of host threads, and kernels, copies and fills.
--
-- role is 0 for work of a thread, 1 for frames and marks, 2 for device work, 3 for calls that
-- return after the copy that they started, 4 for calls that wait for the device, 5 for loading of
-- data. Work without a duration, work whose time was not set, and the profiler's own work are left
-- out.
-- @scope trace
SELECT
    e.trace_id, e.event_id AS id, e.track_id AS lane, l.team,
    e.ts_ns AS start_ns, e.end_ns,
    CASE
        WHEN w.is_sync THEN 4
        WHEN w.event_id IS NOT NULL THEN 3
        WHEN starts_with(e.name, 'enumerate(DataLoader)#')
            OR starts_with(e.name, 'enumerate(DataPipe)#')
            THEN 5
        WHEN e.cat IN ('user_annotation', 'python_function') OR starts_with(e.name, 'ProfilerStep#')
            THEN 1
        ELSE 0
    END AS role,
    CAST(NULL AS BIGINT) AS launch_id
FROM events e
JOIN tracks t ON t.trace_id = e.trace_id AND t.track_id = e.track_id
JOIN traces r ON r.trace_id = e.trace_id
LEFT JOIN _path_lanes l ON l.trace_id = e.trace_id AND l.track_id = e.track_id
LEFT JOIN _waiting_calls w ON w.trace_id = e.trace_id AND w.event_id = e.event_id
WHERE t.kind = 'cpu_thread' AND e.ph IN ('X', 'B') AND e.dur_ns > 0 AND e.end_ns IS NOT NULL
    AND e.ts_ns >= r.start_ns AND coalesce(e.cat, '') NOT IN ('Trace', 'overhead')
UNION ALL
SELECT
    k.trace_id, k.event_id, k.track_id, NULL, k.ts_ns, k.end_ns, 2, k.launch_id
FROM kernels k
JOIN traces r ON r.trace_id = k.trace_id
WHERE k.kind IN ('kernel', 'memcpy', 'memset') AND k.dur_ns > 0 AND k.end_ns IS NOT NULL
    AND k.ts_ns >= r.start_ns
