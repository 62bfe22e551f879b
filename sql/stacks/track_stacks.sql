-- The stack of each event by nesting in time on its own track, device tracks too.
--
-- Unlike `event_stacks`, all tracks take part and device work is not linked to what launched it:
-- device activities that overlap on a stream nest into each other. Only complete events (`X`)
-- longer than 0 take part.
-- `tracesql pprof --rule self` and the other stack formats with that rule read this view.
--
-- Source: nesting in time, see the functions `stack` and `nest_self`.
-- Example: SELECT thread, sum(time_ns) AS busy_ns FROM track_stacks GROUP BY thread
--   ORDER BY busy_ns DESC LIMIT 5
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank; NULL if not recorded.
-- @column track_id BIGINT id The track.
-- @column pid BIGINT id Process; NULL if it is no number.
-- @column tid BIGINT id Thread or stream; NULL if it is no number.
-- @column thread VARCHAR text Name of the track, else its id.
-- @column event_id BIGINT id The event.
-- @column device BIGINT id Device of a device track.
-- @column stream BIGINT id Stream of a device track.
-- @column step BIGINT id Step; NULL outside of steps.
-- @column name VARCHAR text The last frame.
-- @column samples BIGINT count 1.
-- @column time_ns BIGINT ns Duration less the union of the direct children.
-- @column stack VARCHAR[] list Frames, root first.
SELECT
  e.trace_id, t.rank, e.track_id, k.pid, k.tid,
  coalesce(k.thread_name, concat('thread ', coalesce(k.tid_text, '?'))) AS thread,
  e.event_id, k.device, k.stream, e.step, e.name, 1 AS samples,
  nest_self(e.ts_ns, e.end_ns) OVER w AS time_ns,
  stack(e.name, e.ts_ns, e.end_ns) OVER w AS stack
FROM events e
JOIN traces t ON t.trace_id = e.trace_id
JOIN tracks k ON k.trace_id = e.trace_id AND k.track_id = e.track_id
WHERE e.ph = 'X' AND e.dur_ns > 0
WINDOW w AS (PARTITION BY e.trace_id, e.track_id ORDER BY e.ts_ns, e.end_ns DESC, e.event_id)
