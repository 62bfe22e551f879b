-- The pieces of critical paths as event_path returns them.
-- @scope trace
SELECT *
FROM event_path(
    (SELECT trace_id, id, lane, team, start_ns, end_ns, role, launch_id FROM _path_activities),
    (SELECT trace_id, call_id, lane, key, at_ns, action FROM _path_orders),
    (SELECT trace_id, window_id, last_id, from_ns, to_ns FROM _path_windows),
    by => trace_id
)
