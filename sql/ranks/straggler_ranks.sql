-- Ranks and links that a job loses time to, with the cause: what to look at first.
--
-- Waits are charged to the rank and the activity that they were for, not to the rank that came last
-- (collective_causes), and only as far as the activity took longer than usual. A rank without a
-- trace is charged with what it did between two of its collectives (cause not_recorded), as far as
-- that took longer than it does on the other ranks. The verdict is
-- persistent if at least half of the steps lose time (each more than a tenth of the largest), else
-- transient. It is weak, and no claim should be built on it, where both a single wait is shorter on
-- average than straggler_wait_ns, and all of them are less than straggler_lost_pct of the time: the
-- ends of one collective on several ranks differ by up to 10 µs, and so short waits may be no more
-- than that. waited_for_ns of stragglers, which names the last rank, is there for comparison.
--
-- Example: SELECT rank, group_name, cause, name, steps, lost_ns, lost_pct, verdict
--   FROM straggler_ranks ORDER BY lost_ns DESC LIMIT 5
-- Range: any lost_pct; several ranks lose the same time, so it may be more than 100.
--
-- @scope store
-- @column job VARCHAR text The job (job_ranks.job).
-- @column rank BIGINT id The rank; NULL for a link.
-- @column group_name VARCHAR text The group of a link; NULL for ranks, or if not recorded.
-- @column host VARCHAR text Host of the rank; NULL for a link, or if not recorded.
-- @column cause VARCHAR text compute, copy, transfer, data_loading, host_late, or not_recorded
--   (what a rank did that has no trace of it).
-- @column name VARCHAR text Name of the activity that lost most.
-- @column steps BIGINT count Steps that lose more than a tenth of the largest loss of a step.
-- @column worst_step BIGINT id The step that loses most; NULL outside steps.
-- @column lost_ns BIGINT ns Waits of all ranks that are due to it.
-- @column charge_ns BIGINT ns Waits of all ranks during activities that took longer than usual.
-- @column waits BIGINT count Waits that lost_ns consists of.
-- @column lost_pct DOUBLE pct lost_ns as percent of the time of all steps and ranks; NULL without
--   steps.
-- @column last_waits_ns BIGINT ns Waits of other ranks in calls in which the rank came last,
--   whatever made it late; NULL for a link.
-- @column verdict VARCHAR text persistent, transient or weak.
-- @column status VARCHAR text recorded, or trace missing if the rank has no trace in the store;
--   NULL for a link.
-- @column calls_recorded BIGINT count Collectives of all ranks of the job, one by one.
-- @column calls_measured BIGINT count Those that are measured (collective_coverage). Waits in the
--   others are in no sum, so that ranks of this list, and others, may lose more.
-- @column reason VARCHAR text The most frequent reason why a call is not measured; NULL if all calls
--   are measured.
WITH marked AS (
    SELECT
        *,
        max(lost_ns) OVER (PARTITION BY job, rank, group_name, cause) AS most_ns
    FROM straggler_steps
),
sums AS (
    SELECT
        job, rank, group_name, cause,
        first_value(name ORDER BY lost_ns DESC, name) AS name,
        count(DISTINCT CASE WHEN lost_ns > 0.1 * most_ns THEN step END) AS steps,
        first_value(step ORDER BY lost_ns DESC, step) AS worst_step,
        sum(lost_ns) AS lost_ns,
        sum(charge_ns) AS charge_ns,
        sum(waits) AS waits
    FROM marked
    GROUP BY job, rank, group_name, cause
),
lengths AS (
    SELECT job, count(*) AS steps, sum(all_ns) AS all_ns
    FROM (
        SELECT j.job, s.step, max(s.dur_ns) * max(j.ranks) AS all_ns
        FROM steps s
        JOIN job_ranks j ON j.trace_id = s.trace_id
        GROUP BY j.job, s.step
    )
    GROUP BY job
),
last AS (
    SELECT job, rank, sum(waited_for_ns) AS waited_for_ns FROM stragglers GROUP BY job, rank
)
SELECT
    s.job, s.rank, s.group_name, j.host, s.cause, s.name, s.steps, s.worst_step, s.lost_ns,
    s.charge_ns, s.waits,
    100.0 * s.lost_ns / nullif(l.all_ns, 0) AS lost_pct,
    w.waited_for_ns AS last_waits_ns,
    CASE
        WHEN s.lost_ns < setting('straggler_wait_ns') * s.waits
            AND coalesce(100.0 * s.lost_ns / nullif(l.all_ns, 0), 0) < setting('straggler_lost_pct')
            THEN 'weak'
        WHEN l.steps > 1 AND 2 * s.steps >= l.steps THEN 'persistent'
        ELSE 'transient'
    END AS verdict,
    CASE
        WHEN s.rank IS NULL THEN NULL
        WHEN j.rank IS NULL THEN 'trace missing'
        ELSE 'recorded'
    END AS status,
    c.calls_recorded, c.calls_measured, c.reason
FROM sums s
LEFT JOIN lengths l ON l.job = s.job
LEFT JOIN job_ranks j ON j.job = s.job AND j.rank = s.rank
LEFT JOIN last w ON w.job = s.job AND w.rank = s.rank
LEFT JOIN _step_coverage c ON c.job = s.job AND c.is_job
