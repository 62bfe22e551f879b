-- The activities of _path_activities that paths through a job need, on the clock of the job: device
-- work, calls that launch it or wait for it, marks of steps, loading and collection of garbage.
--
-- Ids, lanes and teams differ between ranks: the rank times 2^40, 2^32 and 2^20 is added.
-- @scope store
WITH launches AS (
    SELECT DISTINCT trace_id, launch_id AS id
    FROM _path_activities
    WHERE role = 2 AND launch_id IS NOT NULL
),
kept AS (
    SELECT a.*
    FROM _path_activities a
    LEFT JOIN launches l ON l.trace_id = a.trace_id AND l.id = a.id
    LEFT JOIN (SELECT DISTINCT trace_id, event_id FROM steps) s
        ON s.trace_id = a.trace_id AND s.event_id = a.id
    WHERE a.role >= 2 OR l.id IS NOT NULL OR s.event_id IS NOT NULL
    UNION ALL
    SELECT
        trace_id, event_id, track_id, CAST(NULL AS BIGINT), ts_ns, end_ns, 0, CAST(NULL AS BIGINT)
    FROM events
    WHERE cat = 'python_function' AND name LIKE 'gc.py(%' AND dur_ns > 0
)
SELECT
    s.job, a.trace_id,
    s.rank AS domain,
    s.rank * 1099511627776 + a.id AS id,
    s.rank * 4294967296 + a.lane AS lane,
    s.rank * 1048576 + a.team AS team,
    a.start_ns - s.offset_ns - CAST(round(s.drift * (a.start_ns - s.origin_ns)) AS BIGINT)
        AS start_ns,
    a.end_ns - e.offset_ns - CAST(round(e.drift * (a.end_ns - e.origin_ns)) AS BIGINT) AS end_ns,
    a.role,
    s.rank * 1099511627776 + a.launch_id AS launch_id
FROM kept a
LEFT JOIN _clock_sides v ON v.trace_id = a.trace_id AND v.event_id = a.id
JOIN _job_clock_pieces s ON s.trace_id = a.trace_id
    AND CASE
        WHEN v.segment IS NOT NULL
            THEN s.segment = v.segment - CASE WHEN v.straddles THEN 1 ELSE 0 END
        ELSE (s.from_ns IS NULL OR a.start_ns >= s.from_ns)
            AND (s.to_ns IS NULL OR a.start_ns < s.to_ns)
    END
JOIN _job_clock_pieces e ON e.trace_id = a.trace_id
    AND CASE
        WHEN v.segment IS NOT NULL THEN e.segment = v.segment
        ELSE (e.from_ns IS NULL OR a.end_ns >= e.from_ns)
            AND (e.to_ns IS NULL OR a.end_ns < e.to_ns)
    END
