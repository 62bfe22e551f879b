-- Time ranges with the role they play in the step time breakdown.
--
-- 0 kernel, 1 copy, 2 fill, 3 communication, 4 runtime call, 5 data loading, 6 other work on the host. A kernel is communication if its name or its
-- arguments say so, or if it was launched in one of the marks that the plugin knows; the marks of all collectives on the host are communication too.
-- Work on the host within other such work is left out, and so are ranges of no length: they change no union.
WITH owned AS (
    SELECT
        trace_id, event_id, kind, ts_ns, end_ns, is_collective, is_launch,
        parent_value(event_id, owner_id, CASE WHEN is_collective THEN 3 WHEN kind IN ('operator', 'optimizer', 'python') THEN 6 ELSE 0 END)
            OVER (PARTITION BY trace_id, track_id ORDER BY ts_ns, end_ns DESC, is_launch, event_id) AS owner_role
    FROM _host_links
),
host AS (
    SELECT *
    FROM (
        SELECT
            trace_id, event_id, is_launch, ts_ns, end_ns, coalesce(owner_role, 0) AS owner_role,
            CASE WHEN is_launch = 1 THEN 4 WHEN kind = 'dataloader' THEN 5 WHEN is_collective THEN 3 ELSE 6 END AS role
        FROM owned
        WHERE kind NOT IN ('step', 'module')
    )
    WHERE NOT (role = 6 AND owner_role = 6)
),
device AS (
    SELECT k.trace_id, k.launch_id, k.kind, k.ts_ns, k.end_ns, k.collective_name IS NOT NULL OR n.is_communication AS communicates
    FROM kernels k
    LEFT JOIN _kernel_classes n ON n.name = k.name
    WHERE k.kind IN ('kernel', 'memcpy', 'memset') AND k.dur_ns > 0
),
-- A launch has a row for each of its device activities, which have a row without a launch if theirs is not in the trace.
pairs AS (
    SELECT
        coalesce(h.trace_id, d.trace_id) AS trace_id, h.ts_ns AS host_start, h.end_ns AS host_end, h.role,
        d.ts_ns AS device_start, d.end_ns AS device_end,
        CASE WHEN d.kind = 'memcpy' THEN 1 WHEN d.kind = 'memset' THEN 2 WHEN h.owner_role = 3 OR d.communicates THEN 3 ELSE 0 END AS device_role
    FROM host h
    FULL JOIN device d ON d.trace_id = h.trace_id AND d.launch_id = h.event_id AND h.is_launch = 1
),
ranges AS (
    SELECT trace_id, unnest([role, device_role]) AS role, unnest([host_start, device_start]) AS start_ns, unnest([host_end, device_end]) AS end_ns
    FROM pairs
    UNION ALL
    SELECT trace_id, 3, ts_ns, end_ns FROM _collective_marks
)
SELECT trace_id, role, start_ns, end_ns FROM ranges WHERE end_ns > start_ns
