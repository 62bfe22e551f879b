-- Annotations of devices: from the first start to the last end of the work of a user annotation on
-- a stream.
-- @scope trace
SELECT trace_id, event_id, track_id, name, ts_ns, end_ns, dur_ns
FROM events
WHERE cat = 'gpu_user_annotation' AND ph IN ('X', 'B') AND dur_ns >= 0 AND name IS NOT NULL
