-- How long the other ranks of a job wait for each rank, for rule_stragglers.
--
-- is_followed is whether waits could be followed back to their causes; cause is then what loses
-- most time, NULL if nothing does clearly.
-- @scope store
-- @traces several
-- @column trace_id VARCHAR text The trace of a rank.
-- @column job VARCHAR text The job (job_ranks.job).
-- @column rank BIGINT id Rank of the trace.
-- @column calls BIGINT count Matched collectives whose wait is known.
-- @column not_measured BIGINT count Collectives of the rank that are not measured.
-- @column last_calls BIGINT count Calls in which this rank came last.
-- @column waited_for_ns BIGINT ns Sum of the waits of other ranks in those calls.
-- @column wait_ns BIGINT ns What the rank itself waited for others.
-- @column ranks BIGINT count Ranks of the job that have a trace.
-- @column is_followed BOOLEAN flag Whether waits of the job could be followed to their causes.
-- @column cause VARCHAR text What loses most time; NULL if nothing does clearly.
-- @column numerator BIGINT number Nanoseconds that are lost to the rank.
-- @column denominator BIGINT number Nanoseconds: duration of the trace, times the other ranks.
WITH ranks AS (
    SELECT
        trace_id, job, rank,
        sum(calls) AS calls,
        sum(calls_recorded - calls_measured) AS not_measured,
        sum(last_calls) AS last_calls,
        sum(waited_for_ns) AS waited_for_ns,
        sum(wait_ns) AS wait_ns,
        count(*) OVER (PARTITION BY job) AS ranks
    FROM (
        SELECT
            trace_id, job, rank, calls, last_calls, waited_for_ns, wait_ns, calls_recorded,
            calls_measured
        FROM stragglers
    )
    GROUP BY trace_id, job, rank
),
followed AS (
    SELECT DISTINCT job FROM collective_calls WHERE method = 'clocks' AND status = 'complete'
),
blamed AS (
    SELECT
        job, rank,
        sum(lost_ns) AS lost_ns,
        sum(charge_ns) AS charge_ns,
        first_value(cause ORDER BY lost_ns DESC, cause) AS cause
    FROM straggler_ranks
    WHERE rank IS NOT NULL AND verdict <> 'weak'
    GROUP BY job, rank
)
SELECT
    r.*,
    f.job IS NOT NULL AS is_followed,
    b.cause,
    CASE
        WHEN b.job IS NULL THEN r.waited_for_ns
        ELSE greatest(b.lost_ns, least(r.waited_for_ns, b.charge_ns))
    END AS numerator,
    t.duration_ns * (r.ranks - 1) AS denominator
FROM ranks r
JOIN traces t ON t.trace_id = r.trace_id
LEFT JOIN followed f ON f.job = r.job
LEFT JOIN blamed b ON b.job = r.job AND b.rank = r.rank
