-- Members of the calls of collectives: when each rank began and ended on the clock of the job, and
-- how long it waited for the others.
--
-- One row per collective of a rank, matched or not. start_job_ns and end_job_ns are Unix times on
-- the clock of the call's reference rank (rank_clocks). A rank waits from its own start until the
-- last member has begun (full_ns); the rest is the exchange. The root of a broadcast does not need
-- the others, so it has no wait unless it is the last one; members of reduce, gather and scatter
-- have none. Without
-- common clocks (method durations) the shortest duration of a complete call is taken as the
-- exchange, and what a rank needs beyond is its wait.
--
-- Example: SELECT call_id, collective, rank, status, wait_ns, transfer_ns, is_last
--   FROM collective_members ORDER BY job, call_id, rank LIMIT 6
-- Holds: wait_ns + transfer_ns = dur_ns
-- Range: any start_job_ns, end_job_ns, full_ns; Unix time, not the clock of the trace.
--
-- @scope store
-- @column trace_id VARCHAR text The trace.
-- @column job VARCHAR text The job (job_ranks.job).
-- @column call_id BIGINT id Number of the call in the job (collective_calls.call_id).
-- @column rank BIGINT id Rank of the trace.
-- @column step BIGINT id Step of the launch or mark; NULL outside steps.
-- @column event_id BIGINT id The collective (events.event_id).
-- @column place VARCHAR text device or host.
-- @column collective VARCHAR text What was done.
-- @column group_name VARCHAR text Name of the process group; NULL if not recorded.
-- @column group_ranks VARCHAR json Ranks of the group; NULL if not known.
-- @column call BIGINT number Number of the collective among those of its rank with the same
--   collective and group (collectives.call).
-- @column match_source VARCHAR text How the call was matched: seq, pair, order or world (see
--   collective_calls.match_source); NULL if it was not.
-- @column status VARCHAR text Status of the call: complete, members_missing, mismatch or single.
-- @column members BIGINT count Ranks of the store that take part in the call.
-- @column method VARCHAR text clocks or durations: where wait and transfer come from; NULL without.
-- @column size_bytes BIGINT bytes Size of the message on this rank; NULL if not recorded.
-- @column start_job_ns BIGINT ns Start as Unix time on the clock of the job.
-- @column end_job_ns BIGINT ns End as Unix time on the clock of the job.
-- @column error_ns BIGINT ns Error of these times (rank_clocks.error_ns).
-- @column full_ns BIGINT ns Unix time on the clock of the job at which all members had begun; NULL
--   without clocks.
-- @column dur_ns BIGINT ns Duration on this rank; NULL if it is negative.
-- @column wait_ns BIGINT ns The part before all members had begun; NULL if not known.
-- @column transfer_ns BIGINT ns dur_ns - wait_ns; NULL if not known.
-- @column is_last BOOLEAN flag Whether this rank came last; NULL if not known, or if others are
--   within the error of the clocks.
-- @column reason VARCHAR text Why wait_ns is NULL; NULL if it is known.
WITH waits AS (
    SELECT
        m.*, c.call_id, c.status, c.members, c.method, c.full_ns, c.missing_was_last, c.last_rank,
        c.last_start_ns, c.shortest_ns, c.root_rank, c.has_clock,
        c.reason AS call_reason,
        c.error_ns AS call_error_ns,
        CASE
            WHEN c.method = 'durations' THEN m.dur_ns - c.shortest_ns
            -- greatest() and least() ignore NULL.
            WHEN c.full_ns IS NULL OR m.is_turned THEN NULL
            WHEN m.rank = c.root_rank AND m.start_job_ns < c.full_ns THEN NULL
            WHEN m.collective NOT IN (
                'all_reduce', 'all_gather', 'reduce_scatter', 'all_to_all', 'barrier', 'send_recv',
                'broadcast'
            ) THEN NULL
            ELSE least(greatest(c.full_ns - m.start_job_ns, 0), m.dur_ns)
        END AS wait_ns
    FROM _collective_times m
    JOIN _call_waits c ON c.job = m.job AND c.call_no = m.call_no
)
SELECT
    trace_id, job, call_id, rank, step, event_id, place, collective, group_name, group_ranks, call,
    match_source, status, members, method, size_bytes, start_job_ns, end_job_ns, error_ns, full_ns,
    CASE WHEN NOT is_negative THEN dur_ns END AS dur_ns,
    wait_ns,
    dur_ns - wait_ns AS transfer_ns,
    CASE
        WHEN members < 2 OR method IS NULL THEN NULL
        WHEN missing_was_last THEN false
        WHEN last_rank IS NOT NULL THEN rank = last_rank
        WHEN method = 'clocks' AND start_job_ns < last_start_ns - 2 * call_error_ns THEN false
        WHEN method = 'durations' AND dur_ns > shortest_ns THEN false
    END AS is_last,
    CASE
        WHEN wait_ns IS NOT NULL THEN NULL
        WHEN call_reason IS NOT NULL THEN call_reason
        WHEN method IS NULL AND NOT has_clock
            THEN 'the clocks of the members are not aligned, and not all of them end together'
        WHEN method IS NULL THEN 'members of the call are not in the store'
        WHEN method = 'clocks' AND full_ns IS NULL
            THEN 'it is not known whether a missing rank came last'
        WHEN is_turned THEN 'the clock of the rank may have stepped back during the call'
        WHEN dur_ns IS NULL THEN 'the duration is not known'
        ELSE 'it does not wait for the others'
    END AS reason
FROM waits
