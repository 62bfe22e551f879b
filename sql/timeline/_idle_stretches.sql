-- Periods in which no work runs on a device, between its first and its last work, with the call
-- that launched the next work.
--
-- next_id is the work that ends the period. If several begin at once, it is the one launched first.
-- before_end_ns, the start of the period, is the end of the last work before it. launch_ns and
-- ready_ns are the start and end of the launch call within the period. Both are NULL if no launch
-- was found.
-- @scope trace
WITH work AS (
    SELECT
        trace_id, device, event_id, launch_id, ts_ns, end_ns,
        max(end_ns) OVER (
            PARTITION BY trace_id, device
            ORDER BY ts_ns, launch_id, event_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        )
            AS before_end_ns
    FROM kernels
    WHERE kind IN ('kernel', 'memcpy', 'memset') AND dur_ns >= 0
),
stretches AS (
    SELECT
        trace_id, device,
        before_end_ns AS start_ns,
        ts_ns AS end_ns,
        event_id AS next_id,
        launch_id
    FROM work
    WHERE ts_ns > before_end_ns
)
SELECT
    s.trace_id, s.device, s.start_ns, s.end_ns, s.next_id, s.launch_id,
    l.track_id AS launch_track_id,
    -- Both functions skip NULL: an unknown launch has no time.
    CASE
        WHEN l.event_id IS NOT NULL THEN least(greatest(l.ts_ns, s.start_ns), s.end_ns)
    END AS launch_ns,
    CASE
        WHEN l.event_id IS NOT NULL THEN least(greatest(l.end_ns, s.start_ns), s.end_ns)
    END AS ready_ns
FROM stretches s
LEFT JOIN _work_launches l ON l.trace_id = s.trace_id AND l.event_id = s.launch_id
