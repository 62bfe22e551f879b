-- The time over which torch-tb-profiler 0.4.3 draws counters: the profiler's own span, or else from
-- the first to the last event that it reads.
-- @scope trace
WITH events_us AS (
    SELECT
        trace_id, event_id, ts_ns, name, lower(cat) AS cat,
        CAST(ts_ns / 1000 AS DOUBLE) + CAST(ts_ns % 1000 AS DOUBLE) / 1000.0 AS start_us,
        (CAST(ts_ns / 1000 AS DOUBLE) + CAST(ts_ns % 1000 AS DOUBLE) / 1000.0)
            + (CAST(dur_ns / 1000 AS DOUBLE) + CAST(dur_ns % 1000 AS DOUBLE) / 1000.0) AS end_us
    FROM events
    WHERE ph = 'X' AND dur_ns IS NOT NULL AND cat IN ('python_function', 'Trace', 'trace')
),
spans AS (
    SELECT
        trace_id,
        last_value(start_us ORDER BY ts_ns, event_id) AS start_us,
        last_value(end_us ORDER BY ts_ns, event_id) AS end_us
    FROM events_us
    WHERE name = 'PyTorch Profiler (0)' AND cat = 'trace'
    GROUP BY trace_id
),
extents AS (
    SELECT trace_id, min(start_us) AS start_us, max(end_us) AS end_us
    FROM (
        SELECT trace_id, start_us, end_us FROM _tb_calls
        UNION ALL
        SELECT trace_id, start_us, end_us FROM _tb_work
        UNION ALL
        SELECT trace_id, start_us, end_us FROM events_us
    )
    GROUP BY trace_id
),
windows AS (
    SELECT
        e.trace_id,
        coalesce(s.start_us, e.start_us) AS start_us,
        coalesce(s.end_us, e.end_us) AS end_us
    FROM extents e
    LEFT JOIN spans s ON s.trace_id = e.trace_id
),
sizes AS (
    SELECT w.trace_id, min(p.size) AS bucket_us
    FROM windows w
    JOIN (SELECT power(10.0, e) AS size FROM (SELECT unnest(generate_series(0, 17)) AS e)) p
        ON w.end_us - w.start_us <= 100 * p.size
    GROUP BY w.trace_id
)
SELECT
    w.trace_id, w.start_us, w.end_us, s.bucket_us,
    CAST(floor((w.end_us - w.start_us) / s.bucket_us) AS BIGINT) AS buckets
FROM windows w
JOIN sizes s ON s.trace_id = w.trace_id
