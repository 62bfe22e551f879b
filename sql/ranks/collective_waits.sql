-- Collectives of a job, rank by rank: how long each rank waited for the others, and how long the
-- exchange itself took.
--
-- The same calls, waits and definitions as in collective_members, with the columns of single
-- collectives. A collective that was not matched with those of other ranks (is_matched) has no
-- wait. collective_calls has a row for each call.
--
-- Example: SELECT collective, call, rank, transfer_ns, wait_ns, is_last FROM collective_waits
--   ORDER BY collective, call, rank LIMIT 6
-- Holds: wait_ns = dur_ns - transfer_ns
--
-- @scope store
-- @column trace_id VARCHAR text The trace.
-- @column job VARCHAR text The job (job_ranks.job).
-- @column rank BIGINT id Rank of the trace.
-- @column step BIGINT id Step of the launch or mark; NULL outside steps.
-- @column event_id BIGINT id The collective (events.event_id).
-- @column place VARCHAR text device or host.
-- @column collective VARCHAR text What was done.
-- @column group_name VARCHAR text Name of the process group; NULL if not recorded.
-- @column group_ranks VARCHAR json Ranks of the group; NULL if not known.
-- @column call BIGINT number Number of the collective among those of its rank with the same
--   collective and group, from 1.
-- @column call_id BIGINT id The call (collective_calls.call_id).
-- @column status VARCHAR text Status of the call: complete, members_missing, mismatch or single.
-- @column is_matched BOOLEAN flag Whether the call has other members, and they fit together.
-- @column matched_ranks BIGINT count Members of the call in the store; NULL if it was not matched.
-- @column size_bytes BIGINT bytes Size of the message; NULL if not recorded.
-- @column dur_ns BIGINT ns Duration on this rank; NULL if it is negative.
-- @column transfer_ns BIGINT ns dur_ns - wait_ns; NULL if not known.
-- @column wait_ns BIGINT ns Time from the start on this rank until all members had begun; NULL if
--   the call was not matched, or if the wait is not known (collective_members).
-- @column is_last BOOLEAN flag Whether this rank came last; NULL if not known.
-- @column reason VARCHAR text Why wait_ns is NULL; NULL if it is known.
-- @column transfer_bandwidth_gb_s DOUBLE GB/s size_bytes by transfer_ns; NULL if either is not
--   known.
SELECT
    trace_id, job, rank, step, event_id, place, collective, group_name, group_ranks, call, call_id,
    status,
    status IN ('complete', 'members_missing') AND members > 1 AS is_matched,
    CASE
        WHEN status IN ('complete', 'members_missing') AND members > 1 THEN members
    END AS matched_ranks,
    size_bytes, dur_ns,
    CASE WHEN members > 1 THEN transfer_ns END AS transfer_ns,
    CASE WHEN members > 1 THEN wait_ns END AS wait_ns,
    is_last,
    CASE
        WHEN members > 1 OR reason IS NOT NULL THEN reason
        ELSE 'no other rank of the store takes part'
    END AS reason,
    CASE
        WHEN members > 1 THEN CAST(size_bytes AS DOUBLE) / nullif(transfer_ns, 0)
    END AS transfer_bandwidth_gb_s
FROM collective_members
