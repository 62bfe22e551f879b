-- The lanes of tracks: where a timeline draws each event that has a duration, so that no event
-- covers another.
--
-- Profilers write events that overlap, so one depth of a track can hold several events at once. A
-- lane never does. It is the first one that is free at the start of the event, not above its depth
-- and below its parent; without overlaps it is the depth. tracesql ui draws these lanes. Of the
-- events that begin in one column of its picture, it draws the longest of each lane:
-- GROUP BY track_id, lane and the column, which is ts_ns less the origin, divided by the step.
--
-- Source: timeline_lane over events.
-- Example: SELECT track_id, max(lane) + 1 AS lanes, count(*) AS events
--   FROM timeline_lanes GROUP BY track_id ORDER BY events DESC LIMIT 5
-- Holds: lane >= depth OR depth >= 4096
-- Holds: dur_ns > 0 AND end_ns = ts_ns + dur_ns
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column track_id BIGINT id The track.
-- @column event_id BIGINT id The event.
-- @column parent_id BIGINT id The innermost event that encloses it; NULL at the top level.
-- @column name VARCHAR text Name of the event.
-- @column cat VARCHAR text Category of the event.
-- @column ts_ns BIGINT ns Start.
-- @column end_ns BIGINT ns End, exclusive.
-- @column dur_ns BIGINT ns Duration.
-- @column depth BIGINT count Number of events around it.
-- @column lane BIGINT number Lane within the track, from 0; NULL if the event fits into none of
--   4,096 lanes.
SELECT
    trace_id, track_id, event_id, parent_id, name, cat, ts_ns, end_ns, dur_ns, depth,
    timeline_lane(ts_ns, end_ns, depth, event_id, parent_id) OVER (
        PARTITION BY trace_id, track_id ORDER BY ts_ns, end_ns DESC, event_id
    ) AS lane
FROM events
WHERE depth IS NOT NULL AND dur_ns > 0 AND ts_ns IS NOT NULL
