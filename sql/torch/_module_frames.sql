-- Calls of modules as Python frames, with instance names that tell instances of one class apart.
--
-- PyTorch before 2.0 writes the class only; the number that later versions add to it is then taken from Python module id.
SELECT
    trace_id, event_id, track_id, step, ts_ns, greatest(dur_ns, 0) AS dur_ns, greatest(end_ns, ts_ns) AS end_ns,
    CASE
        WHEN regexp_like(name, '_[0-9]+$') THEN replace(name, 'nn.Module: ', '')
        ELSE concat(replace(name, 'nn.Module: ', ''), '_', python_module_id)
    END AS name
FROM events
WHERE cat = 'python_function' AND python_module_id IS NOT NULL AND dur_ns IS NOT NULL
