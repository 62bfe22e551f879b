-- Events of Kineto traces by the number that PyTorch gives a record function: args `Record function
-- id`, or `External id` in traces that record no such number (PyTorch before 2.1).
-- @scope trace
WITH numbered AS (
    SELECT
        e.trace_id, e.event_id, e.name, e.ts_ns, e.dur_ns, e.step, e.external_id,
        nullif(json_get_int(e.args, 'Record function id'), 0) AS record_function
    FROM events e
    JOIN traces t ON t.trace_id = e.trace_id AND t.format = 'kineto'
    WHERE e.ph = 'X' AND e.cat IN ('cpu_op', 'user_annotation', 'Operator')
),
used AS (
    SELECT trace_id, count(record_function) > 0 AS has_numbers FROM numbered GROUP BY trace_id
),
keyed AS (
    SELECT
        n.trace_id, n.event_id, n.name, n.ts_ns, n.dur_ns, n.step,
        CASE WHEN u.has_numbers THEN n.record_function ELSE n.external_id END AS rf_id,
        CASE WHEN u.has_numbers THEN 'record_function_id' ELSE 'external_id' END AS link
    FROM numbered n
    JOIN used u ON u.trace_id = n.trace_id
)
SELECT * FROM keyed WHERE rf_id IS NOT NULL
