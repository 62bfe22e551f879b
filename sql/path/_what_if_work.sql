-- The work of each target of _what_if_targets. An operator changes with all that runs inside, and
-- with the device work that was launched there. id is NULL for launches and graphs. change is 1 for
-- work that other work does not wait for, 2 for launches that become one, 3 for work that takes
-- another time with the device work launched inside, and NULL for work that takes another time.
-- @scope trace
WITH work AS (
    SELECT k.trace_id, k.event_id, k.name, k.kind, k.op_id, c.class
    FROM kernels k
    LEFT JOIN kernel_classes c ON c.trace_id = k.trace_id AND c.event_id = k.event_id
    WHERE k.kind IN ('kernel', 'memcpy', 'memset')
),
operators AS (
    SELECT e.trace_id, e.event_id, e.name
    FROM events e
    WHERE e.cat IN ('cpu_op', 'Operator', 'operator') AND e.dur_ns > 0
)
SELECT t.trace_id, t.target, w.event_id AS id, CAST(NULL AS BIGINT) AS change
FROM _what_if_targets t
JOIN work w ON w.trace_id = t.trace_id
    AND t.target_kind = CASE
        WHEN w.kind <> 'kernel' THEN 'copy'
        WHEN w.class = 'communication' THEN 'communication'
        ELSE 'compute'
    END
UNION ALL
SELECT t.trace_id, t.target, w.event_id, NULL
FROM _what_if_targets t
JOIN work w ON w.trace_id = t.trace_id AND w.name = t.name
WHERE t.target_kind IN ('kernel', 'named')
UNION ALL
SELECT t.trace_id, t.target, o.event_id, 3
FROM _what_if_targets t
JOIN operators o ON o.trace_id = t.trace_id AND o.name = t.name
WHERE t.target_kind IN ('operator', 'named')
UNION ALL
SELECT t.trace_id, t.target, w.event_id, NULL
FROM _what_if_targets t
JOIN operators o ON o.trace_id = t.trace_id AND o.name = t.name
JOIN work w ON w.trace_id = o.trace_id AND w.op_id = o.event_id
WHERE t.target_kind IN ('operator', 'named')
UNION ALL
SELECT t.trace_id, t.target, e.event_id, NULL
FROM _what_if_targets t
JOIN events e ON e.trace_id = t.trace_id
WHERE t.target_kind = 'data_loading' AND e.dur_ns > 0
    AND (starts_with(e.name, 'enumerate(DataLoader)#')
        OR starts_with(e.name, 'enumerate(DataPipe)#'))
UNION ALL
SELECT t.trace_id, t.target, w.event_id, 1
FROM _what_if_targets t
JOIN work w ON w.trace_id = t.trace_id AND w.class = 'communication'
WHERE t.target_kind = 'hidden_communication' AND w.kind = 'kernel'
UNION ALL
SELECT trace_id, target, CAST(NULL AS BIGINT), CASE WHEN target_kind = 'cuda_graphs' THEN 2 END
FROM _what_if_targets
WHERE target_kind IN ('launch', 'cuda_graphs')
