-- How many nodes of an execution trace have an event in the profiler's trace, and why others have
-- none.
--
-- joined and the five reasons of et_events add up to nodes.
--
-- Example: SELECT profiler_trace_id, nodes, joined, not_in_trace, joined_pct FROM et_coverage
-- Holds: joined + no_id + no_record_function + no_trace + not_in_trace + name_differs = nodes
--
-- @scope store
-- @column trace_id VARCHAR text The execution trace.
-- @column profiler_trace_id VARCHAR text The profiler's trace of the same run; NULL if the store
--   has none.
-- @column nodes BIGINT count Nodes.
-- @column joined BIGINT count Nodes with an event.
-- @column no_id BIGINT count Nodes without a record function id, which nothing can join.
-- @column no_record_function BIGINT count Nodes that no function made.
-- @column no_trace BIGINT count Nodes without a profiler's trace.
-- @column not_in_trace BIGINT count Nodes whose number no event has.
-- @column name_differs BIGINT count Nodes whose number an event of another name has.
-- @column joined_pct DOUBLE pct joined as percent of all nodes except no_record_function; NULL if
--   there are none. Nodes without an id count as not joined.
SELECT
    trace_id, profiler_trace_id,
    count(*) AS nodes,
    count(profiler_event_id) AS joined,
    count(*) FILTER (WHERE reason = 'no_id') AS no_id,
    count(*) FILTER (WHERE reason = 'no_record_function') AS no_record_function,
    count(*) FILTER (WHERE reason = 'no_trace') AS no_trace,
    count(*) FILTER (WHERE reason = 'not_in_trace') AS not_in_trace,
    count(*) FILTER (WHERE reason = 'name_differs') AS name_differs,
    100.0 * count(profiler_event_id)
        / nullif(count(*) FILTER (WHERE reason IS DISTINCT FROM 'no_record_function'), 0)
        AS joined_pct
FROM et_events
GROUP BY trace_id, profiler_trace_id
