-- The windows of critical paths: window 0 is the whole trace, the others are the steps in order. A
-- step ends with its mark or with the last device work that it launched, whichever is later.
--
-- The whole trace is that of devices and of the threads that launch their work or carry marks of
-- steps; in a trace without them, of all threads.
-- @scope trace
WITH main AS (
    SELECT a.trace_id, a.lane
    FROM _path_activities k
    JOIN _path_activities a ON a.trace_id = k.trace_id AND a.id = k.launch_id
    WHERE k.role = 2
    UNION
    SELECT trace_id, lane FROM _path_activities WHERE role = 2
    UNION
    SELECT trace_id, track_id FROM steps
),
work AS (
    SELECT
        a.trace_id, a.id, a.start_ns, a.end_ns, m.lane IS NOT NULL AS is_main,
        bool_or(m.lane IS NOT NULL) OVER (PARTITION BY a.trace_id) AS has_main
    FROM _path_activities a
    LEFT JOIN main m ON m.trace_id = a.trace_id AND m.lane = a.lane
),
whole AS (
    SELECT
        trace_id, min(start_ns) AS from_ns, max(end_ns) AS to_ns,
        first_value(id ORDER BY end_ns DESC, start_ns DESC, id) AS last_id
    FROM work
    WHERE is_main = has_main
    GROUP BY trace_id
),
tails AS (
    SELECT
        trace_id, step, max(end_ns) AS end_ns,
        first_value(event_id ORDER BY end_ns DESC, ts_ns DESC, event_id) AS event_id
    FROM kernels
    WHERE kind IN ('kernel', 'memcpy', 'memset') AND dur_ns > 0 AND step IS NOT NULL
    GROUP BY trace_id, step
),
marks AS (
    SELECT
        trace_id, step, event_id, start_ns, end_ns,
        row_number() OVER (PARTITION BY trace_id ORDER BY start_ns, event_id) AS window_id,
        row_number() OVER (PARTITION BY trace_id, step ORDER BY end_ns DESC, event_id) AS from_last
    FROM steps
    WHERE end_ns > start_ns
)
SELECT
    trace_id, 0 AS window_id, CAST(NULL AS BIGINT) AS step, last_id, from_ns, to_ns,
    CAST(NULL AS BIGINT) AS mark_id
FROM whole
UNION ALL
SELECT
    m.trace_id, CAST(m.window_id AS BIGINT), m.step,
    CASE WHEN t.end_ns > m.end_ns THEN t.event_id ELSE m.event_id END,
    m.start_ns, greatest(m.end_ns, t.end_ns), m.event_id
FROM marks m
LEFT JOIN tails t ON t.trace_id = m.trace_id AND t.step = m.step AND m.from_last = 1
