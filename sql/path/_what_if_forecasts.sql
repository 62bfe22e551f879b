-- The lengths of steps with other lengths of the work of _what_if_targets: at the factor that the
-- user set, and at one half and at nothing.
-- @expand _what_if_forecasts
--   factor="CAST(round(1000 * greatest(setting('what_if_factor'), 0)) AS BIGINT)"
-- @expand _sensitivity_forecasts factor="500" both
--
-- The forecasts of event_forecast for the work of each target.
-- @scope trace
SELECT *
FROM event_forecast(
    (SELECT trace_id, id, lane, team, start_ns, end_ns, role, launch_id FROM _path_activities),
    (SELECT trace_id, call_id, lane, key, at_ns, action FROM _path_orders),
    (SELECT trace_id, window_id, last_id, from_ns, to_ns, mark_id FROM _path_windows),
    (SELECT trace_id, target, id, change FROM _what_if_work),
    by => trace_id,
-- @if both
    second_factor => 0,
-- @end
    factor => {factor}
)
