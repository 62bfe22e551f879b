-- Annotations that users put around parts of their program (record_function). Steps, and marks that
-- PyTorch makes itself, are not included.
-- @scope trace
SELECT trace_id, event_id, track_id, step, name, ts_ns, end_ns, dur_ns
FROM events
WHERE cat = 'user_annotation' AND ph IN ('X', 'B') AND dur_ns >= 0
    AND NOT starts_with(name, 'ProfilerStep#')
        AND NOT starts_with(name, 'nccl:')
        AND NOT starts_with(name, 'gloo:')
        AND NOT starts_with(name, '[pl][')
