-- Time that a job loses in a step to a rank or link that took longer than usual, by cause.
--
-- Sums of collective_causes.excess_ns; rows of a link (cause transfer) have the group and no rank.
-- Waits that are not known are in no sum: status says whether all of the step are.
--
-- Example: SELECT step, rank, cause, lost_ns, lost_pct FROM straggler_steps
--   ORDER BY lost_ns DESC LIMIT 5
-- Range: any lost_pct; several ranks lose the same time, so it may be more than 100.
--
-- @scope store
-- @column job VARCHAR text The job (job_ranks.job).
-- @column step BIGINT id Step of the activity; NULL outside steps.
-- @column rank BIGINT id The rank; NULL for a link.
-- @column group_name VARCHAR text The group of a link; NULL for ranks, or if not recorded.
-- @column cause VARCHAR text compute, copy, transfer, data_loading, host_late, or not_recorded
--   (what a rank did that has no trace of it).
-- @column name VARCHAR text Name of the activity that lost most.
-- @column lost_ns BIGINT ns Waits of all ranks that are due to it.
-- @column charge_ns BIGINT ns Waits of all ranks during activities that took longer than usual.
-- @column waits BIGINT count Waits that lost_ns consists of: each of a rank in a call for an
--   activity.
-- @column lost_pct DOUBLE pct lost_ns as percent of the time of the step of all ranks, which is its
--   longest duration times the ranks; NULL without steps.
-- @column calls_recorded BIGINT count Collectives of all ranks in the step, one by one.
-- @column calls_measured BIGINT count Those that are measured (collective_coverage).
-- @column status VARCHAR text measured, or partial if some are not: then more may be lost.
-- @column reason VARCHAR text The most frequent reason for that; NULL if all calls are measured.
WITH sums AS (
    SELECT
        job, step,
        CASE WHEN cause = 'transfer' THEN NULL ELSE rank END AS rank,
        group_name, cause, name,
        sum(excess_ns) AS lost_ns,
        sum(charge_ns) FILTER (WHERE excess_ns > 0) AS charge_ns,
        sum(waiters) FILTER (WHERE excess_ns > 0) AS waits
    FROM collective_causes
    GROUP BY
        job, step,
        CASE WHEN cause = 'transfer' THEN NULL ELSE rank END,
        group_name, cause, name
),
named AS (
    SELECT
        job, step, rank, group_name, cause,
        first_value(name ORDER BY lost_ns DESC, name) AS name,
        sum(lost_ns) AS lost_ns,
        sum(charge_ns) AS charge_ns,
        coalesce(sum(waits), 0) AS waits
    FROM sums
    GROUP BY job, step, rank, group_name, cause
),
lengths AS (
    SELECT j.job, s.step, max(s.dur_ns) * max(j.ranks) AS all_ns
    FROM steps s
    JOIN job_ranks j ON j.trace_id = s.trace_id
    GROUP BY j.job, s.step
)
SELECT
    n.job, n.step, n.rank, n.group_name, n.cause, n.name, n.lost_ns, n.charge_ns, n.waits,
    100.0 * n.lost_ns / nullif(l.all_ns, 0) AS lost_pct,
    coalesce(c.calls_recorded, 0) AS calls_recorded,
    coalesce(c.calls_measured, 0) AS calls_measured,
    CASE WHEN c.calls_measured < c.calls_recorded THEN 'partial' ELSE 'measured' END AS status,
    c.reason
FROM named n
LEFT JOIN lengths l ON l.job = n.job AND l.step = n.step
LEFT JOIN _step_coverage c ON c.job = n.job AND NOT c.is_job
    -- Comparisons that can be hashed: a job can have many steps.
    AND coalesce(c.step, -1) = coalesce(n.step, -1) AND (c.step IS NULL) = (n.step IS NULL)
WHERE n.lost_ns > 0
