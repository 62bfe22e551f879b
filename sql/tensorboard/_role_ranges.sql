-- Time ranges with the role they play in the step time breakdown.
--
-- 0 kernel, 1 copy, 2 fill, 3 communication, 4 runtime call, 5 data loading, 6 other work on the host. A kernel is communication if it was
-- launched in a collective mark; the mark itself is communication too.
SELECT
    d.trace_id, d.device,
    CASE d.kind WHEN 'memcpy' THEN 1 WHEN 'memset' THEN 2 ELSE CASE WHEN n.is_collective THEN 3 ELSE 0 END END AS role,
    d.ts_ns AS start_ns, d.end_ns
FROM _device_work d
LEFT JOIN _host_nodes n ON n.trace_id = d.trace_id AND n.event_id = d.node_id
WHERE d.dur_ns > 0
UNION ALL
SELECT trace_id, NULL, 4, ts_ns, end_ns FROM _launches WHERE dur_ns > 0
UNION ALL
SELECT trace_id, NULL, CASE WHEN kind = 'dataloader' THEN 5 WHEN is_collective THEN 3 ELSE 6 END, ts_ns, end_ns
FROM _host_nodes
WHERE dur_ns > 0 AND kind NOT IN ('step', 'module')
