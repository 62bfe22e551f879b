-- How much of the communication of each step of a job could be measured (collective_coverage), for
-- sums over all of its ranks: steps, with NULL for calls outside of them, and the whole job.
-- @scope store
WITH entries AS (
    SELECT job, step, false AS is_job, calls_recorded, calls_measured, reason
    FROM collective_coverage
    UNION ALL
    SELECT job, CAST(NULL AS BIGINT), true, calls_recorded, calls_measured, reason
    FROM collective_coverage
),
sums AS (
    SELECT
        job, step, is_job,
        sum(calls_recorded) AS calls_recorded,
        sum(calls_measured) AS calls_measured,
        first_value(
            reason ORDER BY reason IS NULL, calls_recorded - calls_measured DESC, reason
        ) AS reason
    FROM entries
    GROUP BY job, step, is_job
)
SELECT
    job, step, is_job, calls_recorded, calls_measured,
    CASE
        WHEN calls_measured = calls_recorded THEN 'measured'
        WHEN calls_measured > 0 THEN 'partial'
        ELSE 'not measured'
    END AS status,
    reason
FROM sums
