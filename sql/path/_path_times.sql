-- Time on the critical path of each window by kind, kernel and operator: the rows of
-- critical_path_by of these dimensions, without what its other dimensions need.
-- @scope trace
WITH pieces AS (
    SELECT trace_id, window_id, event_id, kind, sum(end_ns - start_ns) AS path_ns
    FROM _path_pieces
    GROUP BY trace_id, window_id, event_id, kind
),
work AS (
    SELECT
        k.trace_id, k.event_id, k.op_id, k.name,
        CASE
            WHEN k.kind IN ('memcpy', 'memset') THEN 'copy'
            WHEN c.class = 'communication' THEN 'communication'
            ELSE 'compute'
        END AS kind
    FROM kernels k
    LEFT JOIN kernel_classes c ON c.trace_id = k.trace_id AND c.event_id = k.event_id
),
named AS (
    SELECT
        p.trace_id, p.window_id, p.path_ns,
        CASE WHEN p.kind = 'device' THEN coalesce(w.kind, 'compute') ELSE p.kind END AS kind,
        CASE WHEN p.kind = 'device' THEN w.name END AS kernel,
        CASE
            WHEN w.event_id IS NOT NULL THEN w.op_id
            WHEN e.cat IN ('cpu_op', 'Operator', 'operator') THEN p.event_id
            ELSE e.parent_id
        END AS op_id
    FROM pieces p
    LEFT JOIN work w ON w.trace_id = p.trace_id AND w.event_id = p.event_id
    LEFT JOIN events e ON e.trace_id = p.trace_id AND e.event_id = p.event_id
),
operators AS (
    SELECT trace_id, event_id, name
    FROM events
    WHERE cat IN ('cpu_op', 'Operator', 'operator')
)
SELECT trace_id, window_id, 'kind' AS dimension, kind AS value, sum(path_ns) AS path_ns
FROM named
GROUP BY trace_id, window_id, kind
UNION ALL
SELECT trace_id, window_id, 'kernel', kernel, sum(path_ns)
FROM named
WHERE kernel IS NOT NULL
GROUP BY trace_id, window_id, kernel
UNION ALL
SELECT n.trace_id, n.window_id, 'operator', o.name, sum(n.path_ns)
FROM named n
JOIN operators o ON o.trace_id = n.trace_id AND o.event_id = n.op_id
GROUP BY n.trace_id, n.window_id, o.name
