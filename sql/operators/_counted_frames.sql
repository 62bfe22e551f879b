-- Traces whose Python frames PyTorch counts as rows of its own table: traces that contain CallFrom
-- (PyTorch 2.15).
-- @scope trace
SELECT trace_id
FROM events
WHERE cat = 'python_function' AND depth = 0
GROUP BY trace_id
HAVING bool_or(contains(args, '"CallFrom"'))
