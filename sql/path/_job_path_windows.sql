-- The windows of paths through a job, a row per rank on the clock of the job: window 0 is all that
-- was recorded, the others are the steps in order.
-- @scope store
SELECT
    s.job,
    CASE
        WHEN w.window_id = 0 THEN 0
        ELSE CAST(
            dense_rank() OVER (
                PARTITION BY s.job, w.window_id = 0
                ORDER BY w.step NULLS FIRST
            ) AS BIGINT
        )
    END AS window_id,
    w.step,
    s.rank * 1099511627776 + w.last_id AS last_id,
    w.from_ns - s.offset_ns - CAST(round(s.drift * (w.from_ns - s.origin_ns)) AS BIGINT) AS from_ns,
    w.to_ns - e.offset_ns - CAST(round(e.drift * (w.to_ns - e.origin_ns)) AS BIGINT) AS to_ns,
    s.rank * 1099511627776 + w.mark_id AS mark_id,
    s.rank AS domain
FROM _path_windows w
JOIN _job_clock_pieces s ON s.trace_id = w.trace_id
    AND (s.from_ns IS NULL OR w.from_ns >= s.from_ns) AND (s.to_ns IS NULL OR w.from_ns < s.to_ns)
JOIN _job_clock_pieces e ON e.trace_id = w.trace_id
    AND (e.from_ns IS NULL OR w.to_ns >= e.from_ns) AND (e.to_ns IS NULL OR w.to_ns < e.to_ns)
