-- Memory blobs of perf.json traces; those alive at the end last to the end of the recording.
SELECT
    a.trace_id, a.alloc_event_id AS event_id, a.addr AS uuid, a.device_type AS device_name, a.bytes, a.is_at_peak,
    a.alloc_ts_ns AS start_ns,
    coalesce(a.free_ts_ns, t.end_ns) AS end_ns,
    a.state = 'alive' AS is_alive
FROM allocations a
JOIN traces t ON t.trace_id = a.trace_id
WHERE t.format = 'mllm_perf'
