-- Memory blobs of perf.json traces. Blobs alive at the end last until the end of the recording.
-- @scope trace
SELECT
    m.trace_id, m.event_id, m.addr AS uuid, m.device_type AS device_name,
    max(CASE WHEN m.action = 'alloc' THEN m.bytes END) AS bytes,
    min(CASE WHEN m.action = 'alloc' THEN m.ts_ns END) AS start_ns,
    coalesce(max(CASE WHEN m.action = 'free' THEN m.ts_ns END), max(t.end_ns)) AS end_ns,
    count(*) FILTER (WHERE m.action = 'free') = 0 AS is_alive,
    min(CASE WHEN m.action = 'alloc' THEN m.record END) <= max(m.peak_record)
        AND coalesce(max(CASE WHEN m.action = 'free' THEN m.record END), 9223372036854775807)
            > max(m.peak_record) AS is_at_peak
FROM _memory_peaks m
JOIN traces t ON t.trace_id = m.trace_id
WHERE m.format = 'mllm_perf'
GROUP BY m.trace_id, m.event_id, m.addr, m.device_type
HAVING count(*) FILTER (WHERE m.action = 'alloc') > 0
