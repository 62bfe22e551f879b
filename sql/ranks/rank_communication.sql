-- Communication of each rank: time in communication kernels, and the parts hidden by computation
-- and exposed.
--
-- Over the whole trace, from device work alone. Communication is the kernels of class communication
-- in kernel_classes, computation all other kernels and the fills; copies are neither, as in
-- gpu_timeline. Times are unions, so what runs side by side counts once. wait_ns is the part of
-- communication in which the rank waits for others, as far as the other ranks are in the store; it
-- is a sum over calls. step_overlap says the same per step, with the marks of collectives on the
-- host.
--
-- Source: communication and computation overlap of Holistic Trace Analysis.
-- Example: SELECT rank, communication_ns, overlap_pct, exposed_communication_ns
--   FROM rank_communication ORDER BY rank
-- Holds: communication_ns = overlap_ns + exposed_communication_ns
-- Holds: busy_ns = computation_ns + exposed_communication_ns
-- Range: sum transfer_ns, wait_ns
--
-- @scope store
-- @column trace_id VARCHAR text The trace.
-- @column job VARCHAR text The job (job_ranks.job); NULL if the rank is not known.
-- @column rank BIGINT id Rank of the trace; NULL if not known.
-- @column busy_ns BIGINT ns Time in which computation or communication ran.
-- @column computation_ns BIGINT ns Time in which computation ran.
-- @column communication_ns BIGINT ns Time in which communication ran.
-- @column overlap_ns BIGINT ns Time in which both did.
-- @column overlap_pct DOUBLE pct overlap_ns as percent of communication_ns; NULL without
--   communication.
-- @column exposed_communication_ns BIGINT ns communication_ns - overlap_ns.
-- @column exposed_communication_pct DOUBLE pct exposed_communication_ns as percent of the trace's
--   duration; NULL if that is 0.
-- @column transfer_ns BIGINT ns Sum of the exchange of matched device collectives; NULL without
--   any.
-- @column wait_ns BIGINT ns Sum of the waiting in matched device collectives; NULL without any.
-- @column calls_recorded BIGINT count Collectives on the device.
-- @column calls_measured BIGINT count Those that transfer_ns and wait_ns are of, or that do not
--   wait (collective_coverage).
-- @column status VARCHAR text measured, partial, not measured, or no collectives.
-- @column reason VARCHAR text The most frequent reason why a call is not measured; NULL if all calls
--   are measured.
WITH typed AS (
    SELECT trace_id, ts_ns, end_ns, class = 'communication' AS is_communication
    FROM kernel_classes
    WHERE class NOT IN ('memcpy', 'sync') AND dur_ns IS NOT NULL
),
sums AS (
    SELECT
        trace_id,
        interval_union_len(ts_ns, end_ns) AS busy_ns,
        coalesce(
            interval_union_len(CASE WHEN NOT is_communication THEN ts_ns END, end_ns), 0
        ) AS computation_ns,
        coalesce(
            interval_union_len(CASE WHEN is_communication THEN ts_ns END, end_ns), 0
        ) AS communication_ns
    FROM typed
    GROUP BY trace_id
),
covered AS (
    SELECT
        trace_id,
        sum(calls_recorded) AS calls_recorded,
        sum(calls_measured) AS calls_measured,
        first_value(
            reason ORDER BY reason IS NULL, calls_recorded - calls_measured DESC, reason
        ) AS reason
    FROM collective_coverage
    WHERE place = 'device'
    GROUP BY trace_id
),
-- Traces of no job are in no row of collective_coverage.
recorded AS (
    SELECT trace_id, count(*) AS calls FROM collectives WHERE place = 'device' GROUP BY trace_id
)
SELECT
    s.trace_id, j.job,
    coalesce(j.rank, t.rank) AS rank,
    s.busy_ns, s.computation_ns, s.communication_ns,
    s.computation_ns + s.communication_ns - s.busy_ns AS overlap_ns,
    100.0
        * (s.computation_ns + s.communication_ns - s.busy_ns)
        / nullif(s.communication_ns, 0) AS overlap_pct,
    s.busy_ns - s.computation_ns AS exposed_communication_ns,
    100.0 * (s.busy_ns - s.computation_ns) / nullif(t.duration_ns, 0) AS exposed_communication_pct,
    g.transfer_ns, g.wait_ns,
    coalesce(c.calls_recorded, r.calls, 0) AS calls_recorded,
    coalesce(c.calls_measured, 0) AS calls_measured,
    CASE
        WHEN coalesce(c.calls_recorded, r.calls, 0) = 0 THEN 'no collectives'
        WHEN coalesce(c.calls_measured, 0) = 0 THEN 'not measured'
        WHEN c.calls_measured < c.calls_recorded THEN 'partial'
        ELSE 'measured'
    END AS status,
    CASE
        WHEN c.trace_id IS NOT NULL THEN c.reason
        WHEN r.trace_id IS NOT NULL THEN 'the trace does not say which rank it is'
    END AS reason
FROM sums s
JOIN traces t ON t.trace_id = s.trace_id
LEFT JOIN job_ranks j ON j.trace_id = s.trace_id
LEFT JOIN stragglers g ON g.trace_id = s.trace_id AND g.place = 'device'
LEFT JOIN covered c ON c.trace_id = s.trace_id
LEFT JOIN recorded r ON r.trace_id = s.trace_id
