-- The profiled time: the profiler's own span, or else from the first to the last event that views
-- consider. Work whose time was not set lies outside of its trace and does not count.
-- @scope trace
WITH spans AS (
    SELECT
        trace_id,
        last_value(ts_ns ORDER BY ts_ns, event_id) AS start_ns,
        last_value(end_ns ORDER BY ts_ns, event_id) AS end_ns
    FROM events
    WHERE name = 'PyTorch Profiler (0)'
        AND cat IN ('Trace', 'trace')
        AND ph = 'X'
        AND dur_ns IS NOT NULL
    GROUP BY trace_id
),
spanless AS (
    SELECT t.trace_id, t.start_ns AS first_ns, t.end_ns AS last_ns
    FROM traces t
    LEFT JOIN spans s ON s.trace_id = t.trace_id
    WHERE s.trace_id IS NULL
),
windows AS (
    SELECT trace_id, start_ns, end_ns FROM spans
    UNION ALL
    SELECT trace_id, min(ts_ns), max(end_ns)
    FROM (
        SELECT h.trace_id, h.ts_ns, h.end_ns
        FROM spanless s
        JOIN _host_calls h ON h.trace_id = s.trace_id
        WHERE h.ts_ns BETWEEN s.first_ns AND s.last_ns
        UNION ALL
        SELECT k.trace_id, k.ts_ns, k.end_ns
        FROM spanless s
        JOIN kernels k ON k.trace_id = s.trace_id
        WHERE k.kind IN ('kernel', 'memcpy', 'memset')
        UNION ALL
        SELECT e.trace_id, e.ts_ns, e.end_ns
        FROM spanless s
        JOIN events e ON e.trace_id = s.trace_id
        WHERE e.cat IN ('python_function', 'Trace', 'trace')
            AND e.ph IN ('X', 'B')
            AND e.dur_ns IS NOT NULL
            AND e.ts_ns BETWEEN s.first_ns AND s.last_ns
    )
    GROUP BY trace_id
),
sizes AS (
    SELECT w.trace_id, w.start_ns, w.end_ns, min(p.size) AS bucket_ns
    FROM windows w
    JOIN (
        SELECT CAST(power(10, e) AS BIGINT) AS size
        FROM (SELECT unnest(generate_series(0, 17)) AS e)
    ) p
        ON w.end_ns - w.start_ns <= 100 * p.size
    GROUP BY w.trace_id, w.start_ns, w.end_ns
)
SELECT trace_id, start_ns, end_ns, bucket_ns, (end_ns - start_ns) / bucket_ns AS buckets
FROM sizes
