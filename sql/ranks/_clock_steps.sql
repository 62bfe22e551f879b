-- Stretches in which a clock of a job stepped forward: from the last end of a collective before the step to
-- the first one after it, in times of the trace. When exactly it stepped is not known, so lengths
-- that overlap such a stretch are not judged. For steps back see _clock_sides.
-- @scope store
SELECT
    m.trace_id, c.job, c.rank, c.segment,
    max(m.end_ns) FILTER (WHERE m.end_unix_ns < c.from_unix_ns) AS from_ns,
    min(m.end_ns) FILTER (WHERE m.end_unix_ns >= c.from_unix_ns) AS to_ns
FROM _rank_clocks c
JOIN _collective_matches m ON m.job = c.job AND m.rank = c.rank AND m.is_sync
WHERE c.offset_ns > c.offset_before_ns
GROUP BY m.trace_id, c.job, c.rank, c.segment
