-- Ends of the collectives that clocks are aligned by, each with the clock of its rank and the
-- stretch of it that the end lies in (align_clocks); and a row without an end for each rank.
-- @scope store
WITH sights AS (
    SELECT job, rank, trace_id, event_id, call_no, end_unix_ns, place
    FROM (
        SELECT
            *,
            bool_or(place = 'device') OVER (PARTITION BY job) AS has_device
        FROM (
            SELECT job, rank, trace_id, event_id, call_no, end_unix_ns, place
            FROM _collective_matches
            WHERE is_sync
        )
    )
    WHERE (place = 'device') = has_device
    UNION ALL
    SELECT job, rank, trace_id, NULL, NULL, NULL, NULL FROM job_ranks
)
SELECT
    job, rank, trace_id, event_id, place,
    align_clocks(rank, call_no, end_unix_ns) OVER (PARTITION BY job) AS clock
FROM sights
