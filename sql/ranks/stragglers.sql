-- Ranks of a job in their collectives: how long each waited for others, how often it arrived last,
-- and how long others waited for it.
--
-- From calls of collective_waits whose waits are known. A rank that others wait for often, and that
-- itself waits little, is a straggler. A call counts for no rank where several came last within the
-- error of the clocks, or where a rank whose trace is missing did.
--
-- Example: SELECT rank, wait_ns, last_calls, waited_for_ns FROM stragglers
--   ORDER BY waited_for_ns DESC
-- Holds: communication_ns = transfer_ns + wait_ns
-- Holds: last_calls <= calls
-- Holds: abs(sum(waited_for_pct) OVER (PARTITION BY job, place) - 100) < 0.000001
-- Range: sum communication_ns, transfer_ns, wait_ns, waited_for_ns
--
-- @scope store
-- @column trace_id VARCHAR text The trace.
-- @column job VARCHAR text The job (job_ranks.job).
-- @column rank BIGINT id Rank of the trace.
-- @column place VARCHAR text device or host.
-- @column calls BIGINT count Matched collectives whose wait is known.
-- @column communication_ns BIGINT ns Sum of their durations.
-- @column transfer_ns BIGINT ns The part that is exchange.
-- @column wait_ns BIGINT ns The part that is waiting for other ranks.
-- @column wait_pct DOUBLE pct wait_ns as percent of communication_ns; NULL if that is 0.
-- @column last_calls BIGINT count Calls in which this rank came last.
-- @column last_pct DOUBLE pct last_calls as percent of calls.
-- @column waited_for_ns BIGINT ns Sum of the waits of other ranks in those calls.
-- @column waited_for_pct DOUBLE pct waited_for_ns as percent of that of all ranks of the job; NULL
--   if that is 0.
-- @column calls_recorded BIGINT count All collectives of the rank.
-- @column calls_measured BIGINT count Those that are measured (collective_coverage).
-- @column status VARCHAR text measured, or partial if some are not: their waits are in no sum.
-- @column reason VARCHAR text The most frequent reason for that; NULL if all calls are measured.
WITH waits AS (
    SELECT
        *,
        sum(wait_ns) OVER (
            PARTITION BY job, call_id
        ) AS wait_of_all_ns
    FROM collective_waits
    WHERE is_matched AND wait_ns IS NOT NULL
),
sums AS (
    SELECT
        trace_id, job, rank, place,
        count(*) AS calls,
        sum(dur_ns) AS communication_ns,
        sum(transfer_ns) AS transfer_ns,
        sum(wait_ns) AS wait_ns,
        100.0 * sum(wait_ns) / nullif(sum(dur_ns), 0) AS wait_pct,
        count(*) FILTER (WHERE is_last) AS last_calls,
        100.0 * count(*) FILTER (WHERE is_last) / count(*) AS last_pct,
        coalesce(sum(wait_of_all_ns) FILTER (WHERE is_last), 0) AS waited_for_ns,
        100.0 * coalesce(sum(wait_of_all_ns) FILTER (WHERE is_last), 0)
            / nullif(
                sum(
                    coalesce(sum(wait_of_all_ns) FILTER (WHERE is_last), 0)
                ) OVER (PARTITION BY job, place),
                0
            ) AS waited_for_pct
    FROM waits
    GROUP BY trace_id, job, rank, place
),
covered AS (
    SELECT
        trace_id, place,
        sum(calls_recorded) AS calls_recorded,
        sum(calls_measured) AS calls_measured,
        first_value(
            reason ORDER BY reason IS NULL, calls_recorded - calls_measured DESC, reason
        ) AS reason
    FROM collective_coverage
    GROUP BY trace_id, place
)
SELECT
    s.*, c.calls_recorded, c.calls_measured,
    CASE WHEN c.calls_measured = c.calls_recorded THEN 'measured' ELSE 'partial' END AS status,
    c.reason
FROM sums s
JOIN covered c ON c.trace_id = s.trace_id AND c.place = s.place
