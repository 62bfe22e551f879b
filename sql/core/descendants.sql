-- Pairs of an event and one that it encloses on its track.
--
-- An event has one row per event in its subtree, its children at distance 1. The number of pairs is
-- the sum of all depths: filter on event_id, or on a column that selects few events.
--
-- Example: SELECT name, count(*) FROM descendants WHERE ancestor_name LIKE 'ProfilerStep#%'
--   GROUP BY name
-- Holds: self_ns <= dur_ns
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column ancestor_id BIGINT id The enclosing event.
-- @column ancestor_name VARCHAR text Name of the enclosing event.
-- @column event_id BIGINT id The enclosed event.
-- @column name VARCHAR text Its name.
-- @column cat VARCHAR text Its category.
-- @column distance BIGINT count 1 for children, 2 for their children, and so on.
-- @column dur_ns BIGINT ns Duration of the enclosed event; NULL if it has none.
-- @column self_ns BIGINT ns Self time of the enclosed event; NULL if it has no duration.
SELECT
    a.trace_id, a.event_id AS ancestor_id, a.name AS ancestor_name,
    e.event_id, e.name, e.cat, e.depth - a.depth AS distance, e.dur_ns, e.self_ns
FROM events a
JOIN events e
    ON a.trace_id = e.trace_id AND a.track_id = e.track_id AND a.pre < e.pre AND e.pre <= a.post
WHERE a.post > a.pre AND e.depth IS NOT NULL
