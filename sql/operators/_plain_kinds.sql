-- Different calls of operators: equal ones have the same name, shapes, types and values of
-- arguments.
-- @scope trace
SELECT
    trace_id, name, input_dims, input_types, concrete_inputs, min(event_id) AS kind_id
FROM events
WHERE cat IN ('cpu_op', 'Operator', 'operator') AND name IS NOT NULL
GROUP BY trace_id, name, input_dims, input_types, concrete_inputs
