-- Each query must return no rows. Rows that it returns are shown.

-- name: every element of the traces was read
SELECT trace_id, code, skipped_count FROM ingest_issues WHERE skipped_count > 0;

-- name: device work is linked to the host
SELECT path, linked_time_pct FROM trace_summary WHERE linked_time_pct < 99;

-- name: matrix products take less than 0.9 ms a step
SELECT o.trace_id, o.name, o.device_self_ns / s.steps AS device_ns_per_step
FROM operators o
JOIN step_time_average s ON s.trace_id = o.trace_id
WHERE o.name = 'aten::mm' AND o.device_self_ns / s.steps > 900000;
