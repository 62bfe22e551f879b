-- Blobs of perf.json that held the memory when all devices together reached their peak.
--
-- Sizes of the blobs of a trace add up to mllm_summary.peak_bytes.
--
-- Example: SELECT uuid, device_name, bytes, share_pct FROM mllm_peak_blobs ORDER BY bytes DESC
--   LIMIT 5
-- Holds: abs(sum(share_pct) OVER (PARTITION BY trace_id) - 100) < 0.000001
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column event_id BIGINT id Position of the blob in the file (events.event_id).
-- @column uuid BIGINT id The blob's uuid.
-- @column device_name VARCHAR text Device as written.
-- @column bytes BIGINT bytes Size.
-- @column share_pct DOUBLE pct bytes as percent of the peak; NULL if that is 0.
-- @column start_ns BIGINT ns Start.
-- @column end_ns BIGINT ns End.
-- @column is_alive BOOLEAN flag Whether it was not freed before the recording ended.
SELECT
    b.trace_id, b.event_id, b.uuid, b.device_name, b.bytes,
    100.0 * b.bytes / nullif(s.peak_bytes, 0) AS share_pct,
    b.start_ns, b.end_ns, b.is_alive
FROM _mllm_blobs b
JOIN mllm_summary s ON s.trace_id = b.trace_id
WHERE b.start_ns <= s.peak_ts_ns AND (s.peak_ts_ns < b.end_ns OR b.is_alive)
