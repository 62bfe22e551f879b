-- Device time that no row of operator tables stands for, by trace.
SELECT
    d.trace_id, max(t.rank) AS rank,
    coalesce(sum(d.dur_ns) FILTER (WHERE NOT coalesce(n.in_table, false)), 0) AS device_ns,
    coalesce(sum(d.dur_ns) FILTER (WHERE d.uses_tensor_cores AND NOT coalesce(n.in_table, false)), 0) AS tensor_core_ns
FROM _device_work d
JOIN traces t ON t.trace_id = d.trace_id
LEFT JOIN _host_nodes n ON n.trace_id = d.trace_id AND n.event_id = d.node_id
GROUP BY d.trace_id
