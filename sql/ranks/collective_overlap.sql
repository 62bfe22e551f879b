-- Collectives on devices with the computation that runs at the same time on the same device.
--
-- Computation is all kernels but communication, and the fills, as in rank_communication. The part
-- of a collective under which no computation runs is exposed: only that costs time. Where the wait
-- is known (collective_members), wait and exchange are divided in the same way.
--
-- Source: communication and computation overlap of Holistic Trace Analysis, call by call.
-- Example: SELECT rank, collective, dur_ns, overlap_ns, exposed_wait_ns, exposed_transfer_ns
--   FROM collective_overlap ORDER BY dur_ns DESC LIMIT 5
-- Holds: dur_ns = overlap_ns + exposed_ns
-- Holds: exposed_ns = exposed_wait_ns + exposed_transfer_ns
--
-- @scope store
-- @column trace_id VARCHAR text The trace.
-- @column job VARCHAR text The job (job_ranks.job).
-- @column call_id BIGINT id The call (collective_calls.call_id).
-- @column rank BIGINT id Rank of the trace.
-- @column step BIGINT id Step of the launch; NULL outside steps.
-- @column event_id BIGINT id The collective (events.event_id).
-- @column collective VARCHAR text What was done.
-- @column group_name VARCHAR text Name of the process group; NULL if not recorded.
-- @column dur_ns BIGINT ns Duration on this rank; NULL if it is negative.
-- @column overlap_ns BIGINT ns The part under which computation runs.
-- @column exposed_ns BIGINT ns dur_ns - overlap_ns.
-- @column exposed_wait_ns BIGINT ns The exposed part of the wait; NULL if the wait is not known.
-- @column exposed_transfer_ns BIGINT ns The exposed part of the exchange; NULL if the wait is not
--   known.
-- @column overlap_streams BIGINT count Streams with computation at that time.
-- @column status VARCHAR text Status of the call: complete, members_missing, mismatch or single.
-- @column reason VARCHAR text Why the wait is not known; NULL if it is.
WITH members AS (
    SELECT m.*, k.device, k.ts_ns, k.end_ns
    FROM collective_members m
    JOIN kernels k ON k.trace_id = m.trace_id AND k.event_id = m.event_id
    WHERE m.place = 'device'
),
parts AS (
    SELECT
        trace_id, device, event_id, 0 AS part, ts_ns,
        ts_ns + coalesce(wait_ns, 0) AS end_ns
    FROM members
    WHERE wait_ns > 0
    UNION ALL
    SELECT
        trace_id, device, event_id, 1 AS part,
        ts_ns + coalesce(wait_ns, 0) AS ts_ns,
        end_ns
    FROM members
),
meetings AS (
    SELECT
        trace_id,
        a_event_id AS event_id,
        a_part AS part,
        b_stream AS stream,
        ts_ns, end_ns
    FROM interval_intersect(
        (SELECT trace_id, device, event_id, part, ts_ns, end_ns FROM parts),
        (
            SELECT c.trace_id, c.device, c.stream, c.ts_ns, c.end_ns
            FROM kernel_classes c
            JOIN (SELECT DISTINCT trace_id FROM members) m ON m.trace_id = c.trace_id
            WHERE c.class NOT IN ('communication', 'memcpy', 'sync') AND c.dur_ns > 0
        ),
        by => (trace_id, device))
),
hidden AS (
    SELECT
        trace_id, event_id,
        coalesce(interval_union_len(CASE WHEN part = 0 THEN ts_ns END, end_ns), 0) AS wait_ns,
        coalesce(interval_union_len(CASE WHEN part = 1 THEN ts_ns END, end_ns), 0) AS transfer_ns,
        count(DISTINCT stream) AS streams
    FROM meetings
    GROUP BY trace_id, event_id
)
SELECT
    m.trace_id, m.job, m.call_id, m.rank, m.step, m.event_id, m.collective, m.group_name, m.dur_ns,
    coalesce(h.wait_ns, 0) + coalesce(h.transfer_ns, 0) AS overlap_ns,
    m.dur_ns - coalesce(h.wait_ns, 0) - coalesce(h.transfer_ns, 0) AS exposed_ns,
    m.wait_ns - coalesce(h.wait_ns, 0) AS exposed_wait_ns,
    m.transfer_ns - coalesce(h.transfer_ns, 0) AS exposed_transfer_ns,
    coalesce(h.streams, 0) AS overlap_streams,
    m.status, m.reason
FROM members m
LEFT JOIN hidden h ON h.trace_id = m.trace_id AND h.event_id = m.event_id
