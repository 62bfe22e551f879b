-- Runtime and driver calls on the host.
SELECT trace_id, event_id, track_id, step, name, ts_ns, dur_ns, end_ns, pre, correlation
FROM events
WHERE ph IN ('X', 'B') AND dur_ns IS NOT NULL
    AND (cat IN ('Runtime', 'runtime') OR cat LIKE '%\_runtime' ESCAPE '\' OR cat LIKE '%\_driver' ESCAPE '\')
