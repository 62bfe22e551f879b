-- How long each step would take if some work took another time: the factor what_if_factor on kinds
-- of work, on the kernels and operators with the most time on the critical path, and on the kernel
-- or operator that the setting what_if_name names; and with hidden communication or CUDA graphs.
--
-- The work is scheduled again: device work starts when all that it waited for is over, each with
-- its recorded lag, calls that wait return when the work that they wait for is over, and threads
-- move as a whole. So waits that overlapped become shorter or longer, and other work can become
-- critical, which a path with changed weights would not show. A step that launches ahead of the
-- device, or waits for other ranks, keeps these waits as they were recorded. An operator changes
-- with all that runs inside and the device work that was launched there; launch is the time from
-- launch calls to the start of their work, up to 100 us after the return of the call.
-- hidden_communication is communication that no other device work waits for: it takes its
-- time beside computation, and steps last until it is over. cuda_graphs is a step whose launches
-- are one launch, or several where the host waits for the device or loads data between them; its
-- work does not wait for the launches that are gone, and threads do nothing between them. Where the
-- same computation without any change does not give the recorded times within
-- 1 us, nothing is forecast.
--
-- Source: `tracesql docs critical_paths`.
-- Example: SELECT step, target_kind, name, recorded_ns, forecast_ns, saved_pct FROM what_if
--   ORDER BY saved_ns DESC LIMIT 5
-- Holds: saved_ns = recorded_ns - forecast_ns
-- Range: any forecast_ns, saved_ns, saved_pct; a step can get longer.
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column window_id BIGINT number 0 for the whole trace, else the number of the step mark from 1.
-- @column step BIGINT id N of ProfilerStep#N; NULL for the whole trace.
-- @column target_kind VARCHAR text What changes: kernel, operator, named, compute, communication,
--   copy, launch, data_loading, hidden_communication or cuda_graphs.
-- @column name VARCHAR text Name of the kernel or operator; NULL for kinds of work.
-- @column factor DOUBLE ratio Factor on the time of this work; NULL for hidden_communication and
--   cuda_graphs.
-- @column recorded_ns BIGINT ns Length of the step as recorded, until its last device work.
-- @column forecast_ns BIGINT ns Length with the change; NULL if nothing is forecast.
-- @column saved_ns BIGINT ns recorded_ns - forecast_ns; negative if the step gets longer.
-- @column saved_pct DOUBLE pct saved_ns as percent of recorded_ns.
-- @column status VARCHAR text forecast; not reproduced if the recorded times do not follow from
--   the waits; or no steps, for the CUDA graphs of a trace without them.
SELECT
    f.trace_id, r.rank, f.window_id, w.step, t.target_kind, t.name,
    CASE
        WHEN t.target_kind NOT IN ('hidden_communication', 'cuda_graphs')
            THEN greatest(setting('what_if_factor'), 0)
    END AS factor,
    f.recorded_ns, f.judged_ns AS forecast_ns,
    f.recorded_ns - f.judged_ns AS saved_ns,
    100.0 * (f.recorded_ns - f.judged_ns) / NULLIF(f.recorded_ns, 0) AS saved_pct,
    CASE
        WHEN f.forecast_ns IS NULL THEN 'not reproduced'
        WHEN f.judged_ns IS NULL THEN 'no steps'
        ELSE 'forecast'
    END AS status
FROM (
    SELECT
        f.*,
        CASE
            WHEN t.target_kind <> 'cuda_graphs' OR s.trace_id IS NOT NULL THEN f.forecast_ns
        END AS judged_ns
    FROM _what_if_forecasts f
    JOIN _what_if_targets t ON t.trace_id = f.trace_id AND t.target = f.target
    LEFT JOIN (SELECT DISTINCT trace_id FROM _path_windows WHERE window_id > 0) s
        ON s.trace_id = f.trace_id
) f
JOIN _what_if_targets t ON t.trace_id = f.trace_id AND t.target = f.target
JOIN _path_windows w ON w.trace_id = f.trace_id AND w.window_id = f.window_id
JOIN traces r ON r.trace_id = f.trace_id
