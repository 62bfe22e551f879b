-- How much of the communication of each rank and step could be measured, and why the rest could
-- not: before sums of waits are trusted.
--
-- A call of a rank is measured if its wait is known, or if it does not wait for others by design,
-- as the root of a broadcast (collective_members). Sums of waits in other views are of these calls
-- alone, so they are too small where others are not measured. All ranks and steps with collectives
-- have a row, also where nothing is measured.
--
-- Example: SELECT rank, step, calls_recorded, calls_measured, status, reason
--   FROM collective_coverage ORDER BY job, rank, step LIMIT 4
-- Holds: calls_measured <= calls_recorded
-- Holds: (reason IS NULL) = (status = 'measured')
--
-- @scope store
-- @column trace_id VARCHAR text The trace.
-- @column job VARCHAR text The job (job_ranks.job).
-- @column rank BIGINT id Rank of the trace.
-- @column step BIGINT id Step of the launch or mark; NULL outside steps.
-- @column place VARCHAR text device or host.
-- @column calls_recorded BIGINT count Collectives of the rank.
-- @column calls_measured BIGINT count Those that are measured.
-- @column status VARCHAR text measured, partial, or not measured.
-- @column reason VARCHAR text The reason that most calls which are not measured have; NULL if all
--   are.
WITH judged AS (
    SELECT
        trace_id, job, rank, step, place,
        CASE WHEN reason <> 'it does not wait for the others' THEN reason END AS reason
    FROM collective_members
),
counts AS (
    SELECT trace_id, job, rank, step, place, reason, count(*) AS calls
    FROM judged
    GROUP BY trace_id, job, rank, step, place, reason
),
sums AS (
    SELECT
        trace_id, job, rank, step, place,
        sum(calls) AS calls_recorded,
        coalesce(sum(calls) FILTER (WHERE reason IS NULL), 0) AS calls_measured,
        first_value(reason ORDER BY reason IS NULL, calls DESC, reason) AS reason
    FROM counts
    GROUP BY trace_id, job, rank, step, place
)
SELECT
    trace_id, job, rank, step, place, calls_recorded, calls_measured,
    CASE
        WHEN calls_measured = calls_recorded THEN 'measured'
        WHEN calls_measured > 0 THEN 'partial'
        ELSE 'not measured'
    END AS status,
    reason
FROM sums
