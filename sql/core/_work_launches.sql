-- Calls of the host that launch device work: those of _launches, and in XPlane files of TPUs the
-- events that started a program.
-- @scope trace
SELECT trace_id, event_id, track_id, step, ts_ns, end_ns FROM _launches
UNION ALL
SELECT e.trace_id, e.event_id, e.track_id, e.step, e.ts_ns, greatest(e.end_ns, e.ts_ns)
FROM (SELECT trace_id FROM traces WHERE format = 'xplane') t
JOIN (SELECT DISTINCT trace_id, launch_id FROM kernels WHERE link = 'flow') k
    ON k.trace_id = t.trace_id
JOIN events e ON e.trace_id = k.trace_id AND e.event_id = k.launch_id
WHERE e.ph IN ('X', 'B') AND e.dur_ns IS NOT NULL AND e.cat IN ('cpu_op', 'user_annotation')
