-- Threads with host nodes in the order of their first node.
SELECT trace_id, track_id, row_number() OVER (PARTITION BY trace_id ORDER BY first_ns, first_id) AS thread_order
FROM (SELECT trace_id, track_id, min(ts_ns) AS first_ns, min(event_id) AS first_id FROM _host_nodes GROUP BY trace_id, track_id)
