-- The time to which the causes of a call are followed back: the latest end of a call before in
-- which the same ranks, or all ranks of the job, met. What delayed a rank before that was waited
-- for then.
--
-- Without such a call it is 10 s before the start of the first member.
-- @scope store
WITH calls AS (
    SELECT
        c.job, c.call_id, c.first_start_ns, c.end_job_ns, c.is_sync,
        array_to_string(c.member_ranks, ',') AS ranks,
        c.members = j.ranks AS is_world
    FROM _call_waits c
    JOIN (SELECT job, max(ranks) AS ranks FROM job_ranks GROUP BY job) j ON j.job = c.job
    WHERE c.method = 'clocks' AND c.status IN ('complete', 'members_missing')
),
-- An end comes before a start at the same time.
marks AS (
    SELECT job, call_id, ranks, is_world, first_start_ns AS at_ns, 1 AS is_start FROM calls
    UNION ALL
    SELECT job, call_id, ranks, is_world, end_job_ns, 0 FROM calls WHERE is_sync
),
seen AS (
    SELECT
        job, call_id, at_ns, is_start,
        last_known(CASE WHEN is_start = 0 THEN at_ns END) OVER (
            PARTITION BY job, ranks ORDER BY at_ns, is_start, call_id
        ) AS same_ns,
        last_known(CASE WHEN is_start = 0 AND is_world THEN at_ns END) OVER (
            PARTITION BY job ORDER BY at_ns, is_start, call_id
        ) AS world_ns
    FROM marks
)
-- greatest() ignores NULL.
SELECT job, call_id, coalesce(greatest(same_ns, world_ns), at_ns - 10000000000) AS floor_ns
FROM seen
WHERE is_start = 1
