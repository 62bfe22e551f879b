-- How long each step of a job would take if some work on its ranks took another time, if a
-- straggler were like the others, and with hidden communication or CUDA graphs.
--
-- All ranks are scheduled again on the clock of the job, as what_if does for one: a collective ends
-- when its last member has begun and the exchange is over, so waits become shorter or longer. The
-- factor what_if_factor is applied to kinds of work (of communication, to the exchange after all
-- have begun), to the kernels and operators with the most device time, and to the kernel or
-- operator that the setting what_if_name names. An operator stands for the kernels that it
-- launched, and launch for the time from launch calls to the start of their work. Stragglers are
-- those of straggler_ranks that are not weak: kernels, loading and exchanges that took clearly
-- longer take their usual length, and garbage is not collected.
-- hidden_communication and cuda_graphs are those of what_if, with the graphs of each rank. Hidden
-- communication still waits for the other ranks: work that needs a collective can start when the
-- last member could have begun, as if the exchange took no time.
-- A step lasts from its first start to its last end on any rank.
-- Where the same computation without any change does not give the recorded times within 1 µs,
-- nothing is forecast for the step. Nothing is forecast either for a step in which a rank of a
-- collective was not recorded, collectives could not be matched, a clock stepped during work, device
-- work has no duration, or the steps of the ranks differ, or for the step after it, because it is
-- not known when the ranks would have come.
--
-- Source: `tracesql docs critical_paths`.
-- Example: SELECT step, target_kind, name, rank, recorded_ns, forecast_ns, saved_pct
--   FROM job_what_if WHERE window_id > 0 ORDER BY saved_ns DESC LIMIT 5
-- Holds: saved_ns = recorded_ns - forecast_ns
-- Range: any forecast_ns, saved_ns, saved_pct; a step can get longer.
--
-- @scope store
-- @column job VARCHAR text The job (job_ranks.job).
-- @column window_id BIGINT number 0 for all that was recorded, else the number of the step from 1.
-- @column step BIGINT id N of ProfilerStep#N; NULL for window 0.
-- @column target_kind VARCHAR text What changes: kernel, operator, named, compute, communication,
--   copy, launch, data_loading, hidden_communication, cuda_graphs, straggler or all_stragglers.
-- @column name VARCHAR text Name of the kernel or operator, or cause of the straggler; NULL for
--   kinds of work.
-- @column rank BIGINT id Rank of the straggler; NULL for others.
-- @column group_name VARCHAR text Group of a slow link; NULL for others.
-- @column factor DOUBLE ratio Factor on the time of this work; NULL for stragglers,
--   hidden_communication and cuda_graphs.
-- @column recorded_ns BIGINT ns Length of the step as recorded.
-- @column forecast_ns BIGINT ns Length with the change; NULL if nothing is forecast.
-- @column saved_ns BIGINT ns recorded_ns - forecast_ns; negative if the step gets longer.
-- @column saved_pct DOUBLE pct saved_ns as percent of recorded_ns.
-- @column status VARCHAR text forecast, not reproduced if the recorded times do not follow from the
--   waits, no steps for the CUDA graphs of a job without them, or what is not known of the step or
--   the one before it: members missing, calls not matched, steps differ, clock stepped or
--   lengths missing.
WITH forecasts AS (
    SELECT *
    FROM job_forecast(
        (SELECT job, id, lane, team, start_ns, end_ns, role, launch_id, domain
            FROM _job_path_activities),
        (SELECT job, call_id, lane, key, at_ns, action, domain FROM _job_path_orders),
        (SELECT job, window_id, last_id, from_ns, to_ns, mark_id, domain FROM _job_path_windows),
        (SELECT job, call_id, id, is_partial, missing_ns FROM _job_path_members),
        (SELECT job, target, id, length_ns, change FROM _job_target_work),
        by => job,
        factor => CAST(round(1000 * greatest(setting('what_if_factor'), 0)) AS BIGINT)
    )
),
named AS (SELECT DISTINCT job, window_id, step FROM _job_path_windows),
gaps AS (
    SELECT
        job, window_id,
        first_value(status ORDER BY is_own DESC) AS status
    FROM (
        SELECT job, window_id, status, true AS is_own FROM _job_window_gaps WHERE lacks_times
        UNION
        SELECT job, window_id + 1, status, false FROM _job_window_gaps
        WHERE lacks_times AND window_id > 0
    )
    GROUP BY job, window_id
),
judged AS (
    SELECT
        f.job, f.window_id, f.recorded_ns, f.forecast_ns, t.target_kind, t.name, t.rank,
        t.group_name,
        CASE
            WHEN g.job IS NOT NULL THEN g.status
            WHEN f.forecast_ns IS NULL THEN 'not reproduced'
            WHEN t.target_kind = 'cuda_graphs' AND s.job IS NULL THEN 'no steps'
            ELSE 'forecast'
        END AS status
    FROM forecasts f
    JOIN _job_targets t ON t.job = f.job AND t.target = f.target
    LEFT JOIN gaps g ON g.job = f.job AND g.window_id = f.window_id
    LEFT JOIN (SELECT DISTINCT job FROM named WHERE window_id > 0) s ON s.job = f.job
),
told AS (
    SELECT *, CASE WHEN status = 'forecast' THEN forecast_ns END AS told_ns FROM judged
)
SELECT
    f.job, f.window_id, n.step, f.target_kind, f.name, f.rank, f.group_name,
    CASE
        WHEN f.target_kind NOT IN (
            'straggler', 'all_stragglers', 'hidden_communication', 'cuda_graphs'
        )
            THEN greatest(setting('what_if_factor'), 0)
    END AS factor,
    f.recorded_ns,
    f.told_ns AS forecast_ns,
    f.recorded_ns - f.told_ns AS saved_ns,
    100.0 * (f.recorded_ns - f.told_ns) / nullif(f.recorded_ns, 0) AS saved_pct,
    f.status
FROM told f
JOIN named n ON n.job = f.job AND n.window_id = f.window_id
