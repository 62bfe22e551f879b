-- Pairs of an event and one that encloses it on its track.
--
-- An event has one row per enclosing event, the innermost one at distance 1. The number of pairs is
-- the sum of all depths: filter on event_id, or on a column that selects few events.
--
-- Example: SELECT distance, ancestor_name FROM ancestors WHERE event_id = 10 ORDER BY distance
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column event_id BIGINT id The event.
-- @column name VARCHAR text Its name.
-- @column cat VARCHAR text Its category.
-- @column ancestor_id BIGINT id The enclosing event.
-- @column ancestor_name VARCHAR text Name of the enclosing event.
-- @column ancestor_cat VARCHAR text Category of the enclosing event.
-- @column distance BIGINT count 1 for the parent, 2 for its parent, and so on.
SELECT
    e.trace_id, e.event_id, e.name, e.cat,
    a.event_id AS ancestor_id, a.name AS ancestor_name, a.cat AS ancestor_cat,
    e.depth - a.depth AS distance
FROM events e
JOIN events a
    ON a.trace_id = e.trace_id AND a.track_id = e.track_id AND a.pre < e.pre AND e.pre <= a.post
WHERE e.depth > 0
