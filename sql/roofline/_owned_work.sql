-- Kernels, copies and fills with the call that owns them. place is operator, communication, graph
-- (replayed by a graph launch outside of operators), host (launched outside of operators) or
-- unlinked (without a launch).
-- @scope trace
WITH replayed AS (SELECT trace_id, event_id, true AS is_graph FROM kernels WHERE link = 'graph'),
owned AS (
    SELECT
        c.*, r.is_graph,
        coalesce(o.known_id, CASE WHEN o.is_known THEN o.event_id END, o.formed_id, o.event_id)
            AS owner_id
    FROM replayed r
    RIGHT JOIN kernel_classes c ON c.trace_id = r.trace_id AND c.event_id = r.event_id
    LEFT JOIN _call_owners o ON o.trace_id = c.trace_id AND o.event_id = c.op_id
    WHERE c.dur_ns > 0
)
SELECT
    trace_id, event_id, kind, name, device, step, launch_id, ts_ns, end_ns, dur_ns, class,
    CASE WHEN class <> 'communication' THEN owner_id END AS owner_id,
    CASE
        WHEN class = 'communication' THEN 'communication'
        WHEN owner_id IS NOT NULL THEN 'operator'
        WHEN is_graph THEN 'graph'
        WHEN launch_id IS NOT NULL THEN 'host'
        ELSE 'unlinked'
    END AS place
FROM owned
