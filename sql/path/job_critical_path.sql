-- The critical path of each step of a job through all its ranks: at each instant, the rank and the
-- work or wait that held up the end of the step.
--
-- The path is that of critical_path on the clock of the job (rank_clocks). At a collective it goes
-- on at the rank that came last: the exchange after that is transfer, and waiting is no part of the
-- path. It begins at the latest end of the step on any rank and ends at the start of the step on
-- the rank that it has reached; the pieces have no gaps. Work of the host is shown by its launches,
-- waits and loading only; critical_path has its operators. missing_rank is time in which a rank
-- without a trace came last. Ranks that are not connected with the others take no part.
--
-- Source: `tracesql docs critical_paths`.
-- Example: SELECT position, rank, kind, name, dur_ns FROM job_critical_path WHERE step = 4
--   ORDER BY job, position LIMIT 8
-- Holds: dur_ns = end_ns - start_ns
-- Holds: dur_ns > 0
-- Parts: dur_ns BY job, window_id OF job_critical_path_windows.window_ns
-- Range: any start_ns, end_ns; Unix time, not the clock of the trace.
--
-- @scope store
-- @column job VARCHAR text The job (job_ranks.job).
-- @column window_id BIGINT number 0 for all that was recorded, else the number of the step from 1.
-- @column step BIGINT id N of ProfilerStep#N; NULL for window 0.
-- @column position BIGINT number Number of the piece in its window, from 0, in the order of time.
-- @column rank BIGINT id The rank, for missing_rank the one that waited; NULL if nothing recorded
--   explains the time.
-- @column host VARCHAR text Host of the rank; NULL if not recorded.
-- @column start_ns BIGINT ns Start as Unix time on the clock of the job.
-- @column end_ns BIGINT ns End as Unix time on the clock of the job.
-- @column dur_ns BIGINT ns end_ns - start_ns.
-- @column kind VARCHAR text compute, transfer, communication (of a call that was not matched, or
--   for which a missing rank may have come last), copy, launch, host, python, data_loading,
--   synchronisation, stream_gap, event_delay, handoff, missing_rank or unknown.
-- @column trace_id VARCHAR text The trace of the rank; NULL without a rank.
-- @column event_id BIGINT id Event that takes the time or waits (events.event_id of the trace);
--   NULL where a thread recorded nothing of the kinds above.
-- @column name VARCHAR text Name of this event.
-- @column call_id BIGINT id The call of a collective (collective_calls.call_id); NULL for others.
-- @column group_name VARCHAR text Its process group; NULL for others, or if not recorded.
-- @column stream BIGINT id Stream of device work; NULL for threads.
-- @column cause_rank BIGINT id Rank of the work that the piece waited for; NULL for work.
-- @column cause_id BIGINT id This work (events.event_id of the trace of that rank).
-- @column is_inferred BOOLEAN flag Whether the wait follows from times alone, because the trace
--   does not record it.
WITH pieces AS (
    SELECT
        p.*,
        coalesce(p.event_id / 1099511627776, p.lane / 4294967296) AS rank,
        p.event_id % 1099511627776 AS local_id
    FROM job_path(
        (SELECT job, id, lane, team, start_ns, end_ns, role, launch_id, domain
            FROM _job_path_activities),
        (SELECT job, call_id, lane, key, at_ns, action, domain FROM _job_path_orders),
        (SELECT job, window_id, last_id, from_ns, to_ns, domain FROM _job_path_windows),
        (SELECT job, call_id, id, is_partial, missing_ns FROM _job_path_members),
        by => job
    ) p
),
named AS (SELECT DISTINCT job, window_id, step FROM _job_path_windows)
SELECT
    p.job, p.window_id, n.step, p.position, p.rank, r.host, p.start_ns, p.end_ns,
    p.end_ns - p.start_ns AS dur_ns,
    CASE
        WHEN p.kind = 'device' AND k.kind IN ('memcpy', 'memset') THEN 'copy'
        WHEN p.kind = 'device' AND c.class = 'communication' THEN 'communication'
        WHEN p.kind = 'device' THEN 'compute'
        WHEN p.kind = 'transfer' AND q.status = 'members_missing' AND q.missing_was_last IS NULL
            THEN 'communication'
        WHEN p.kind = 'host' AND e.cat = 'python_function' THEN 'python'
        WHEN p.kind = 'host_gap' THEN 'host'
        ELSE p.kind
    END AS kind,
    r.trace_id,
    p.local_id AS event_id,
    e.name, m.call_id, m.group_name, k.stream,
    p.cause_id / 1099511627776 AS cause_rank,
    p.cause_id % 1099511627776 AS cause_id,
    p.is_inferred
FROM pieces p
JOIN named n ON n.job = p.job AND n.window_id = p.window_id
LEFT JOIN job_ranks r ON r.job = p.job AND r.rank = p.rank
LEFT JOIN events e ON e.trace_id = r.trace_id AND e.event_id = p.local_id
LEFT JOIN kernels k ON k.trace_id = r.trace_id AND k.event_id = p.local_id
LEFT JOIN kernel_classes c ON c.trace_id = r.trace_id AND c.event_id = p.local_id
LEFT JOIN collective_members m ON m.trace_id = r.trace_id AND m.event_id = p.local_id
LEFT JOIN collective_calls q ON q.job = m.job AND q.call_id = m.call_id
