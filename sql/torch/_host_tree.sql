-- Host nodes with their own numbers: children, launches, device work; and the node that stands for them in tables.
--
-- PyTorch wraps some operators in another call of the same name. Where such a call is the only child of an operator with its name, the two
-- count as one: call_id is the outermost of them.
WITH children AS (
    SELECT l.trace_id, l.parent_id, count(*) AS children, sum(n.dur_ns) AS children_ns
    FROM _host_links l
    JOIN _host_nodes n ON n.trace_id = l.trace_id AND n.event_id = l.event_id
    WHERE NOT l.is_launch
    GROUP BY l.trace_id, l.parent_id
),
launches AS (
    SELECT l.trace_id, l.parent_id, sum(r.dur_ns) AS launches_ns
    FROM _host_links l
    JOIN _launches r ON r.trace_id = l.trace_id AND r.event_id = l.event_id
    WHERE l.is_launch
    GROUP BY l.trace_id, l.parent_id
),
device AS (
    SELECT
        trace_id, node_id, sum(dur_ns) AS device_ns,
        sum(dur_ns) FILTER (WHERE kind = 'kernel') AS kernel_ns,
        sum(dur_ns) FILTER (WHERE uses_tensor_cores) AS tensor_core_ns
    FROM _device_work
    WHERE node_id IS NOT NULL
    GROUP BY trace_id, node_id
),
own AS (
    SELECT
        n.*, l.parent_id,
        coalesce(c.children, 0) AS children,
        coalesce(c.children_ns, 0) AS children_ns,
        coalesce(r.launches_ns, 0) AS launches_ns,
        coalesce(d.device_ns, 0) AS device_ns,
        coalesce(d.kernel_ns, 0) AS kernel_ns,
        coalesce(d.tensor_core_ns, 0) AS tensor_core_ns,
        CAST(coalesce(e.name IS NOT NULL OR (n.is_operator AND d.tensor_core_ns > 0), false) AS BIGINT) AS own_eligible
    FROM _host_nodes n
    LEFT JOIN _host_links l ON l.trace_id = n.trace_id AND l.event_id = n.event_id AND NOT l.is_launch
    LEFT JOIN children c ON c.trace_id = n.trace_id AND c.parent_id = n.event_id
    LEFT JOIN launches r ON r.trace_id = n.trace_id AND r.parent_id = n.event_id
    LEFT JOIN device d ON d.trace_id = n.trace_id AND d.node_id = n.event_id
    LEFT JOIN tensor_core_operators e ON e.name = n.name
),
merged AS (
    SELECT o.*, coalesce(o.is_operator AND p.is_operator AND p.name = o.name AND p.children = 1, false) AS merged
    FROM own o
    LEFT JOIN own p ON p.trace_id = o.trace_id AND p.event_id = o.parent_id
),
points AS (
    SELECT trace_id, track_id, event_id, pre AS at, 0 AS closes, device_ns, tensor_core_ns, own_eligible AS eligible
    FROM own
    UNION ALL
    SELECT trace_id, track_id, event_id, post, 1, 0, 0, 0 FROM own
),
running AS (
    SELECT trace_id, event_id, closes,
        sum(device_ns) OVER w - CASE closes WHEN 0 THEN device_ns ELSE 0 END AS device_ns,
        sum(tensor_core_ns) OVER w - CASE closes WHEN 0 THEN tensor_core_ns ELSE 0 END AS tensor_core_ns,
        sum(eligible) OVER w - CASE closes WHEN 0 THEN eligible ELSE 0 END AS eligible
    FROM points
    WINDOW w AS (PARTITION BY trace_id ORDER BY at, closes ROWS UNBOUNDED PRECEDING)
),
totals AS (
    SELECT trace_id, event_id,
        max(device_ns) - min(device_ns) AS device_total_ns,
        max(tensor_core_ns) - min(tensor_core_ns) AS tensor_core_total_ns,
        max(eligible) - min(eligible) AS eligible_nodes
    FROM running
    GROUP BY trace_id, event_id
)
SELECT
    m.*, t.device_total_ns, t.tensor_core_total_ns, t.eligible_nodes,
    last_value(CASE WHEN NOT m.merged THEN m.event_id END) IGNORE NULLS
        OVER (PARTITION BY m.trace_id, m.track_id ORDER BY m.pre ROWS UNBOUNDED PRECEDING) AS call_id
FROM merged m
JOIN totals t ON t.trace_id = m.trace_id AND t.event_id = m.event_id
