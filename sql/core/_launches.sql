-- Runtime and driver calls on the host.
-- @scope trace
SELECT
    trace_id, event_id, track_id, step, name, ts_ns,
    greatest(dur_ns, 0) AS dur_ns,
    greatest(end_ns, ts_ns) AS end_ns
FROM events
WHERE ph IN ('X', 'B') AND dur_ns IS NOT NULL
    AND cat IN (
        'cuda_runtime', 'cuda_driver', 'Runtime', 'runtime', 'hip_runtime', 'hip_driver',
        'xpu_runtime', 'xpu_driver',
        'mtia_runtime', 'glow_runtime', 'privateuse1_runtime', 'privateuse1_driver')
