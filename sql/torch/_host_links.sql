-- The enclosing node of each host node and of each launch.
WITH RECURSIVE nodes AS (SELECT trace_id, event_id, takes_launches FROM _host_nodes),
items AS (
    SELECT trace_id, event_id, false AS is_launch FROM nodes
    UNION ALL
    SELECT trace_id, event_id, true FROM _launches
),
climb AS (
    SELECT i.trace_id, i.event_id, i.is_launch, e.parent_id AS at, n.event_id IS NOT NULL AND (NOT i.is_launch OR n.takes_launches) AS there
    FROM items i
    JOIN events e ON e.trace_id = i.trace_id AND e.event_id = i.event_id
    LEFT JOIN nodes n ON n.trace_id = e.trace_id AND n.event_id = e.parent_id
    UNION ALL
    SELECT c.trace_id, c.event_id, c.is_launch, e.parent_id, n.event_id IS NOT NULL AND (NOT c.is_launch OR n.takes_launches)
    FROM climb c
    JOIN events e ON e.trace_id = c.trace_id AND e.event_id = c.at
    LEFT JOIN nodes n ON n.trace_id = e.trace_id AND n.event_id = e.parent_id
    WHERE NOT c.there AND c.at IS NOT NULL
)
SELECT trace_id, event_id, is_launch, at AS parent_id FROM climb WHERE there
