-- The requests of _path_orders on the clock of the job, with numbers that differ between ranks.
-- @scope store
SELECT
    s.job,
    s.rank * 1099511627776 + o.call_id AS call_id,
    s.rank * 4294967296 + o.lane AS lane,
    s.rank * 1099511627776 + o.key AS key,
    o.at_ns - s.offset_ns - CAST(round(s.drift * (o.at_ns - s.origin_ns)) AS BIGINT) AS at_ns,
    o.action,
    s.rank AS domain
FROM _path_orders o
LEFT JOIN _clock_sides v ON v.trace_id = o.trace_id AND v.event_id = o.call_id
JOIN _job_clock_pieces s ON s.trace_id = o.trace_id
    AND CASE
        WHEN v.segment IS NOT NULL THEN s.segment = v.segment
        ELSE (s.from_ns IS NULL OR o.at_ns >= s.from_ns)
            AND (s.to_ns IS NULL OR o.at_ns < s.to_ns)
    END
