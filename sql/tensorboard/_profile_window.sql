-- The time that was profiled: the profiler's own span, else from the first to the last event that views look at.
WITH spans AS (
    SELECT trace_id, last_value(ts_ns ORDER BY ts_ns, event_id) AS start_ns, last_value(end_ns ORDER BY ts_ns, event_id) AS end_ns
    FROM events
    WHERE name = 'PyTorch Profiler (0)' AND cat = 'Trace' AND ph = 'X' AND dur_ns IS NOT NULL
    GROUP BY trace_id
),
extents AS (
    SELECT trace_id, min(ts_ns) AS start_ns, max(end_ns) AS end_ns
    FROM (
        SELECT trace_id, ts_ns, end_ns FROM _host_calls
        UNION ALL
        SELECT trace_id, ts_ns, end_ns FROM kernels WHERE kind IN ('kernel', 'memcpy', 'memset')
        UNION ALL
        SELECT trace_id, ts_ns, end_ns FROM events WHERE cat IN ('python_function', 'Trace') AND ph IN ('X', 'B') AND dur_ns IS NOT NULL
    )
    GROUP BY trace_id
),
windows AS (
    SELECT e.trace_id, coalesce(s.start_ns, e.start_ns) AS start_ns, coalesce(s.end_ns, e.end_ns) AS end_ns
    FROM extents e
    LEFT JOIN spans s ON s.trace_id = e.trace_id
),
sizes AS (
    SELECT w.trace_id, min(p.size) AS bucket_ns
    FROM windows w
    JOIN (SELECT CAST(power(10, e) AS BIGINT) AS size FROM (SELECT unnest(generate_series(0, 17)) AS e)) p ON w.end_ns - w.start_ns <= 100 * p.size
    GROUP BY w.trace_id
)
SELECT w.trace_id, w.start_ns, w.end_ns, s.bucket_ns, (w.end_ns - w.start_ns) / s.bucket_ns AS buckets
FROM windows w
JOIN sizes s ON s.trace_id = w.trace_id
