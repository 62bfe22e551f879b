-- The kind of each call of an operator: the row of _call_kinds that has its figures.
-- @scope trace
WITH plain AS (
    -- The side of the few kinds comes first: joins build a table of it.
    SELECT e.trace_id, e.event_id, k.kind_id
    FROM _plain_kinds k
    JOIN events e
        ON e.trace_id = k.trace_id AND e.name = k.name
            AND coalesce(e.input_dims, '') = coalesce(k.input_dims, '')
            AND coalesce(e.input_types, '') = coalesce(k.input_types, '')
            AND coalesce(e.concrete_inputs, '') = coalesce(k.concrete_inputs, '')
    WHERE e.cat IN ('cpu_op', 'Operator', 'operator')
)
SELECT p.trace_id, p.event_id, coalesce(s.kind_id, p.kind_id) AS kind_id
FROM (SELECT trace_id, event_id, kind_id FROM _special_calls) AS s
RIGHT JOIN plain p ON p.trace_id = s.trace_id AND p.event_id = s.event_id
