-- Kernels, copies and fills with the call that owns them. place is operator, communication, graph
-- (replayed by a graph launch outside of operators), host (launched outside of operators) or
-- unlinked (without a launch).
-- @scope trace
WITH replayed AS (SELECT trace_id, event_id, true AS is_graph FROM kernels WHERE link = 'graph')
SELECT
    c.trace_id, c.event_id, c.kind, c.name, c.device, c.step, c.launch_id, c.ts_ns, c.end_ns,
    c.dur_ns, c.class,
    CASE WHEN c.class <> 'communication' THEN o.owner_id END AS owner_id,
    CASE
        WHEN c.class = 'communication' THEN 'communication'
        WHEN o.owner_id IS NOT NULL THEN 'operator'
        WHEN r.is_graph THEN 'graph'
        WHEN c.launch_id IS NOT NULL THEN 'host'
        ELSE 'unlinked'
    END AS place
FROM replayed r
RIGHT JOIN kernel_classes c ON c.trace_id = r.trace_id AND c.event_id = r.event_id
LEFT JOIN _call_owners o ON o.trace_id = c.trace_id AND o.event_id = c.op_id
WHERE c.dur_ns > 0
