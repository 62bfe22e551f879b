-- The windows of critical_path with the time of each kind, which add up to the window.
--
-- inferred_ns is the time of waits that follow from times alone; unknown_ns is the time for which
-- the trace shows no reason. Both say how far the path can be trusted.
--
-- Source: critical_path.
-- Example: SELECT step, window_ns, compute_ns, communication_ns, host_ns, launch_ns, unknown_ns
--   FROM critical_path_windows ORDER BY window_id
-- Holds: compute_ns + communication_ns + copy_ns + launch_ns + host_ns + data_loading_ns
--   + synchronisation_ns + wait_ns + unknown_ns = window_ns
-- Holds: window_ns = end_ns - start_ns
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column window_id BIGINT number 0 for the whole trace, else the number of the step mark from 1.
-- @column step BIGINT id N of ProfilerStep#N; NULL for the whole trace.
-- @column start_ns BIGINT ns Start.
-- @column end_ns BIGINT ns End.
-- @column window_ns BIGINT ns Length, which is that of the path too.
-- @column pieces BIGINT count Pieces of the path.
-- @column compute_ns BIGINT ns Kernels, except communication.
-- @column communication_ns BIGINT ns Communication kernels, with their waits for other ranks.
-- @column copy_ns BIGINT ns Copies and fills.
-- @column launch_ns BIGINT ns From the start of launch calls to the start of their work.
-- @column host_ns BIGINT ns Operators, runtime calls, Python, and threads that recorded nothing.
-- @column data_loading_ns BIGINT ns Calls of the data loader, with all that runs inside.
-- @column synchronisation_ns BIGINT ns From the end of device work to the return of the call that
--   waited for it.
-- @column wait_ns BIGINT ns Stream gaps, event delays and handoffs between threads.
-- @column unknown_ns BIGINT ns Time for which the trace shows no reason.
-- @column inferred_ns BIGINT ns Time of waits that follow from times alone.
SELECT
    p.trace_id, r.rank, p.window_id, w.step, w.from_ns AS start_ns, w.to_ns AS end_ns,
    w.to_ns - w.from_ns AS window_ns,
    count(*) AS pieces,
    coalesce(sum(p.dur_ns) FILTER (WHERE p.kind = 'compute'), 0) AS compute_ns,
    coalesce(sum(p.dur_ns) FILTER (WHERE p.kind = 'communication'), 0) AS communication_ns,
    coalesce(sum(p.dur_ns) FILTER (WHERE p.kind = 'copy'), 0) AS copy_ns,
    coalesce(sum(p.dur_ns) FILTER (WHERE p.kind = 'launch'), 0) AS launch_ns,
    coalesce(
        sum(p.dur_ns) FILTER (WHERE p.kind IN ('operator', 'runtime_call', 'python', 'host_gap')), 0
    ) AS host_ns,
    coalesce(sum(p.dur_ns) FILTER (WHERE p.kind = 'data_loading'), 0) AS data_loading_ns,
    coalesce(sum(p.dur_ns) FILTER (WHERE p.kind = 'synchronisation'), 0) AS synchronisation_ns,
    coalesce(
        sum(p.dur_ns) FILTER (WHERE p.kind IN ('stream_gap', 'event_delay', 'handoff')), 0
    ) AS wait_ns,
    coalesce(sum(p.dur_ns) FILTER (WHERE p.kind = 'unknown'), 0) AS unknown_ns,
    coalesce(sum(p.dur_ns) FILTER (WHERE p.is_inferred), 0) AS inferred_ns
FROM critical_path p
JOIN traces r ON r.trace_id = p.trace_id
JOIN _path_windows w ON w.trace_id = p.trace_id AND w.window_id = p.window_id
GROUP BY p.trace_id, r.rank, p.window_id, w.step, w.from_ns, w.to_ns
