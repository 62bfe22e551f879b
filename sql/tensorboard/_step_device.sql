-- Device work whose launch lies within a step, by step.
SELECT
    s.trace_id, s.ordinal, d.event_id, d.ts_ns, d.end_ns
FROM _device_work d
JOIN _launches l ON l.trace_id = d.trace_id AND l.event_id = d.launch_id
JOIN _host_steps s ON s.trace_id = l.trace_id AND (l.step = s.step OR NOT s.marked) AND l.ts_ns >= s.start_ns AND l.end_ns <= s.end_ns
