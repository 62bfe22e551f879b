-- Kernels, copies and fills with the call that owns them. place is operator, communication, graph
-- (replayed by a graph launch outside of operators), host (launched outside of operators) or
-- unlinked (without a launch).
-- @scope trace
SELECT
    k.trace_id, k.event_id, k.kind, k.name, k.device, k.step, k.launch_id, k.ts_ns, k.end_ns,
    k.dur_ns, c.class,
    CASE WHEN c.class <> 'communication' THEN o.owner_id END AS owner_id,
    CASE
        WHEN c.class = 'communication' THEN 'communication'
        WHEN o.owner_id IS NOT NULL THEN 'operator'
        WHEN k.link = 'graph' THEN 'graph'
        WHEN k.launch_id IS NOT NULL THEN 'host'
        ELSE 'unlinked'
    END AS place
FROM kernels k
JOIN kernel_classes c ON c.trace_id = k.trace_id AND c.event_id = k.event_id
LEFT JOIN _call_owners o ON o.trace_id = k.trace_id AND o.event_id = k.op_id
WHERE k.kind IN ('kernel', 'memcpy', 'memset') AND k.dur_ns > 0
