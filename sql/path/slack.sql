-- Slack: how much longer each activity of the host and of the devices could take before the end of
-- its step or of the trace moves.
--
-- The work is scheduled as in what_if, and each activity is taken alone. Work with slack_ns 0 holds
-- up the end; work with much slack can become slower, or wait, without an effect. Work that ends in
-- a step and that a later step waits for is limited by both. Waits for other ranks stay as they
-- were recorded.
--
-- Source: event_slack; the total float of the critical path method.
-- Example: SELECT kind, name, dur_ns, slack_ns FROM slack WHERE kind <> 'host'
--   ORDER BY slack_ns DESC NULLS LAST LIMIT 5
-- Holds: (status = 'known') = (slack_ns IS NOT NULL)
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column event_id BIGINT id The activity (events.event_id).
-- @column step BIGINT id Step of the activity; NULL outside steps.
-- @column kind VARCHAR text host, kernel, memcpy or memset.
-- @column name VARCHAR text Name of the activity.
-- @column dur_ns BIGINT ns Its duration.
-- @column slack_ns BIGINT ns How much later it could end; NULL without status known.
-- @column status VARCHAR text known; no end depends on it, if the activity can end as late as it
--   likes; or not reproduced, if the recorded times of the trace do not follow from the waits.
SELECT
    e.trace_id, t.rank, e.event_id, e.step,
    coalesce(k.kind, 'host') AS kind,
    e.name, e.dur_ns, s.slack_ns,
    CASE
        WHEN NOT s.is_reproduced THEN 'not reproduced'
        WHEN s.slack_ns IS NULL THEN 'no end depends on it'
        ELSE 'known'
    END AS status
FROM event_slack(
    (SELECT trace_id, id, lane, team, start_ns, end_ns, role, launch_id FROM _path_activities),
    (SELECT trace_id, call_id, lane, key, at_ns, action FROM _path_orders),
    (SELECT trace_id, window_id, last_id, from_ns, to_ns, mark_id FROM _path_windows),
    by => trace_id
) s
JOIN events e ON e.trace_id = s.trace_id AND e.event_id = s.id
JOIN traces t ON t.trace_id = e.trace_id
LEFT JOIN kernels k ON k.trace_id = e.trace_id AND k.event_id = e.event_id
