-- What a step would gain if some work took half of its time or none: kinds of work, and the kernels
-- and operators with the most time on the critical path; and what it would gain if communication
-- were hidden, or launches were CUDA graphs.
--
-- The forecasts are those of what_if with the factors 0.5 and 0. path_ns is the time of the work on
-- the critical path of the step; of an operator, without the operators inside, and with the kernels
-- that it launched itself, while its forecasts are for all that runs inside. Removing work usually
-- saves less than that, because other work takes its place on the path. It can save more where the
-- device is still busy with the step before, whose work becomes shorter too.
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
-- @column target_kind VARCHAR text kernel, operator, named, compute, communication, copy, launch,
--   data_loading, hidden_communication or cuda_graphs.
-- @column name VARCHAR text Name of the kernel or operator; NULL for kinds of work.
-- @column path_ns BIGINT ns Time of this work on the critical path; of hidden_communication that of
--   communication. NULL for what_if_name and cuda_graphs.
-- @column recorded_ns BIGINT ns Length of the step as recorded, until its last device work.
-- @column saved_at_half_ns BIGINT ns What the step gains at half of the time; NULL if nothing is
--   forecast, and for hidden_communication and cuda_graphs.
-- @column saved_ns BIGINT ns What the step gains without this work, or with this change; NULL if
--   nothing is forecast.
-- @column saved_pct DOUBLE pct saved_ns as percent of recorded_ns.
-- @column status VARCHAR text As in what_if: forecast, not reproduced, or no steps.
SELECT
    h.trace_id, r.rank, h.window_id, w.step, t.target_kind, t.name,
    CASE WHEN t.target_kind NOT IN ('named', 'cuda_graphs') THEN coalesce(p.path_ns, 0) END
        AS path_ns,
    h.recorded_ns,
    CASE
        WHEN t.target_kind NOT IN ('hidden_communication', 'cuda_graphs')
            THEN h.recorded_ns - h.forecast_ns
    END AS saved_at_half_ns,
    CASE WHEN t.target_kind <> 'cuda_graphs' OR s.trace_id IS NOT NULL
        THEN o.recorded_ns - o.forecast_ns
    END AS saved_ns,
    CASE WHEN t.target_kind <> 'cuda_graphs' OR s.trace_id IS NOT NULL
        THEN 100.0 * (o.recorded_ns - o.forecast_ns) / NULLIF(o.recorded_ns, 0)
    END AS saved_pct,
    CASE
        WHEN o.forecast_ns IS NULL THEN 'not reproduced'
        WHEN t.target_kind = 'cuda_graphs' AND s.trace_id IS NULL THEN 'no steps'
        ELSE 'forecast'
    END AS status
FROM _sensitivity_forecasts h
JOIN _sensitivity_forecasts o
    ON o.trace_id = h.trace_id AND o.target = h.target AND o.window_id = h.window_id
        AND o.factor = 0
JOIN _what_if_targets t ON t.trace_id = h.trace_id AND t.target = h.target
JOIN _path_windows w ON w.trace_id = h.trace_id AND w.window_id = h.window_id
JOIN traces r ON r.trace_id = h.trace_id
LEFT JOIN (SELECT DISTINCT trace_id FROM _path_windows WHERE window_id > 0) s
    ON s.trace_id = h.trace_id
LEFT JOIN _path_times p
    ON p.trace_id = h.trace_id AND p.window_id = h.window_id
        AND p.dimension = CASE
            WHEN t.target_kind IN ('kernel', 'operator') THEN t.target_kind
            ELSE 'kind'
        END
        AND p.value = CASE
            WHEN t.target_kind = 'hidden_communication' THEN 'communication'
            ELSE coalesce(t.name, t.target_kind)
        END
WHERE h.factor = 500
