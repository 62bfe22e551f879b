-- Members of calls with their times on the clock of the job.
-- @scope store
SELECT
    m.*,
    c.reference_rank, c.error_ns, c.is_main,
    m.end_unix_ns - c.offset_ns
        - CAST(round(c.drift_ppm / 1e6 * (m.end_unix_ns - c.origin_unix_ns)) AS BIGINT)
        - m.dur_ns
        -- The clock stepped between start and end.
        + CASE
            WHEN m.start_unix_ns < c.from_unix_ns THEN c.offset_ns - c.offset_before_ns
            ELSE 0
        END AS start_job_ns,
    m.end_unix_ns - c.offset_ns
        - CAST(round(c.drift_ppm / 1e6 * (m.end_unix_ns - c.origin_unix_ns)) AS BIGINT)
        AS end_job_ns
FROM _collective_matches m
JOIN _rank_clocks c ON c.job = m.job AND c.rank = m.rank
    AND (c.from_unix_ns IS NULL OR m.end_unix_ns >= c.from_unix_ns)
    AND (c.to_unix_ns IS NULL OR m.end_unix_ns < c.to_unix_ns)
