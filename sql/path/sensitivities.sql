-- What a step would gain if some work took half of its time or none: kinds of work, and the kernels
-- and operators with the most time on the critical path.
--
-- The forecasts are those of what_if with the factors 0.5 and 0. path_ns is the time of the work on
-- the critical path of the step. Removing work saves at most about that much, and less where other
-- work takes its place on the path.
--
-- Source: what_if.
-- Example: SELECT step, target_kind, name, path_ns, saved_at_half_ns, saved_ns, saved_pct
--   FROM sensitivities WHERE window_id = 0 ORDER BY saved_ns DESC LIMIT 5
-- Range: any saved_at_half_ns, saved_ns, saved_pct; a step can get longer.
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column window_id BIGINT number 0 for the whole trace, else the number of the step mark from 1.
-- @column step BIGINT id N of ProfilerStep#N; NULL for the whole trace.
-- @column target_kind VARCHAR text kernel, operator, named, compute, communication, copy, launch or
--   data_loading.
-- @column name VARCHAR text Name of the kernel or operator; NULL for kinds of work.
-- @column path_ns BIGINT ns Time of this work on the critical path; NULL for what_if_name.
-- @column recorded_ns BIGINT ns Length of the step as recorded, until its last device work.
-- @column saved_at_half_ns BIGINT ns What the step gains at half of the time; NULL if nothing is
--   forecast.
-- @column saved_ns BIGINT ns What the step gains without this work; NULL if nothing is forecast.
-- @column saved_pct DOUBLE pct saved_ns as percent of recorded_ns.
SELECT
    h.trace_id, r.rank, h.window_id, w.step, t.target_kind, t.name,
    CASE WHEN t.target_kind <> 'named' THEN coalesce(p.path_ns, 0) END AS path_ns,
    h.recorded_ns,
    h.recorded_ns - h.forecast_ns AS saved_at_half_ns,
    o.recorded_ns - o.forecast_ns AS saved_ns,
    100.0 * (o.recorded_ns - o.forecast_ns) / NULLIF(o.recorded_ns, 0) AS saved_pct
FROM _sensitivity_forecasts h
JOIN _sensitivity_forecasts o
    ON o.trace_id = h.trace_id AND o.target = h.target AND o.window_id = h.window_id
        AND o.factor = 0
JOIN _what_if_targets t ON t.trace_id = h.trace_id AND t.target = h.target
JOIN _path_windows w ON w.trace_id = h.trace_id AND w.window_id = h.window_id
JOIN traces r ON r.trace_id = h.trace_id
LEFT JOIN critical_path_by p
    ON p.trace_id = h.trace_id AND p.window_id = h.window_id
        AND p.dimension = CASE
            WHEN t.target_kind IN ('kernel', 'operator') THEN t.target_kind
            ELSE 'kind'
        END
        AND p.value = coalesce(t.name, t.target_kind)
WHERE h.factor = 500
