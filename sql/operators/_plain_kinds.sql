-- Different calls of operators, each with its calls: equal ones have the same name, shapes, types
-- and values of arguments.
-- @scope trace
SELECT
    trace_id, name, input_dims, input_types, concrete_inputs, min(event_id) AS kind_id,
    array_agg(event_id) AS event_ids
FROM events
WHERE cat IN ('cpu_op', 'Operator', 'operator') AND name IS NOT NULL
GROUP BY trace_id, name, input_dims, input_types, concrete_inputs
