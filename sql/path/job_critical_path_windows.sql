-- The windows of job_critical_path with the time of each kind, which add up to the window, and the
-- ranks at both ends.
--
-- Source: job_critical_path.
-- Example: SELECT step, window_ns, end_rank, start_rank, ranks, compute_ns, transfer_ns, host_ns
--   FROM job_critical_path_windows ORDER BY job, window_id
-- Holds: compute_ns + transfer_ns + communication_ns + copy_ns + launch_ns + host_ns
--   + data_loading_ns + synchronisation_ns + wait_ns + missing_rank_ns + unknown_ns = window_ns
-- Holds: window_ns = end_ns - start_ns
-- Range: any start_ns, end_ns; Unix time, not the clock of the trace.
--
-- @scope store
-- @column job VARCHAR text The job (job_ranks.job).
-- @column window_id BIGINT number 0 for all that was recorded, else the number of the step from 1.
-- @column step BIGINT id N of ProfilerStep#N; NULL for window 0.
-- @column start_ns BIGINT ns Start as Unix time on the clock of the job, on the rank of the start.
-- @column end_ns BIGINT ns Latest end of any rank.
-- @column window_ns BIGINT ns Length, which is that of the path too.
-- @column start_rank BIGINT id The rank in which the path begins in time.
-- @column end_rank BIGINT id The rank in which it ends.
-- @column ranks BIGINT count Ranks on the path.
-- @column pieces BIGINT count Pieces of the path.
-- @column compute_ns BIGINT ns Kernels, except communication.
-- @column transfer_ns BIGINT ns Collectives after all members have begun.
-- @column communication_ns BIGINT ns Communication that was not matched, or for which a missing rank
--   may have come last, with its waits.
-- @column copy_ns BIGINT ns Copies and fills.
-- @column launch_ns BIGINT ns From the start of launch calls to the start of their work.
-- @column host_ns BIGINT ns Threads, Python too.
-- @column data_loading_ns BIGINT ns Calls of the data loader, with all that runs inside.
-- @column synchronisation_ns BIGINT ns From the end of device work to the return of the call that
--   waited for it.
-- @column wait_ns BIGINT ns Stream gaps, event delays and handoffs between threads.
-- @column missing_rank_ns BIGINT ns Time in which a rank without a trace came last.
-- @column unknown_ns BIGINT ns Time for which the traces show no reason.
-- @column inferred_ns BIGINT ns Time of waits that follow from times alone.
-- @column status VARCHAR text complete, or what is not known of the window: calls not matched,
--   members missing, steps differ (it lacks a rank, or the spans of two ranks do not overlap: steps
--   may be numbered differently), clock stepped (during work, whose length is not known), lengths
--   missing (device work has no duration, or a negative one), or ranks not connected (which take no
--   part).
SELECT
    p.job, p.window_id, p.step,
    min(start_ns) AS start_ns,
    max(end_ns) AS end_ns,
    max(end_ns) - min(start_ns) AS window_ns,
    first_value(rank ORDER BY position) AS start_rank,
    first_value(rank ORDER BY position DESC) AS end_rank,
    count(DISTINCT rank) AS ranks,
    count(*) AS pieces,
    coalesce(sum(dur_ns) FILTER (WHERE kind = 'compute'), 0) AS compute_ns,
    coalesce(sum(dur_ns) FILTER (WHERE kind = 'transfer'), 0) AS transfer_ns,
    coalesce(sum(dur_ns) FILTER (WHERE kind = 'communication'), 0) AS communication_ns,
    coalesce(sum(dur_ns) FILTER (WHERE kind = 'copy'), 0) AS copy_ns,
    coalesce(sum(dur_ns) FILTER (WHERE kind = 'launch'), 0) AS launch_ns,
    coalesce(sum(dur_ns) FILTER (WHERE kind IN ('host', 'python')), 0) AS host_ns,
    coalesce(sum(dur_ns) FILTER (WHERE kind = 'data_loading'), 0) AS data_loading_ns,
    coalesce(sum(dur_ns) FILTER (WHERE kind = 'synchronisation'), 0) AS synchronisation_ns,
    coalesce(sum(dur_ns) FILTER (WHERE kind IN ('stream_gap', 'event_delay', 'handoff')), 0)
        AS wait_ns,
    coalesce(sum(dur_ns) FILTER (WHERE kind = 'missing_rank'), 0) AS missing_rank_ns,
    coalesce(sum(dur_ns) FILTER (WHERE kind = 'unknown'), 0) AS unknown_ns,
    coalesce(sum(dur_ns) FILTER (WHERE is_inferred), 0) AS inferred_ns,
    max(coalesce(g.status, 'complete')) AS status
FROM job_critical_path p
LEFT JOIN _job_window_gaps g ON g.job = p.job AND g.window_id = p.window_id
GROUP BY p.job, p.window_id, p.step
