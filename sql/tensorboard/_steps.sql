-- Steps prolonged to the end of the device work they launched, and begun when that of the step before ends.
--
-- What was launched before the first step and ends before its first device work delays its start. Steps at the end without device work are left
-- out, and so is the last if it has less than 0.8 of the device work of the one before: profiling ended before its work did.
WITH device AS (
    SELECT trace_id, ordinal, count(*) AS activities, min(ts_ns) AS first_ns, max(end_ns) AS last_ns
    FROM _step_device
    GROUP BY trace_id, ordinal
),
earlier AS (
    SELECT d.trace_id, max(d.end_ns) AS end_ns
    FROM _device_work d
    JOIN device f ON f.trace_id = d.trace_id AND f.ordinal = 0
    LEFT JOIN _step_device m ON m.trace_id = d.trace_id AND m.event_id = d.event_id
    WHERE d.end_ns < f.first_ns AND m.event_id IS NULL
    GROUP BY d.trace_id
),
known AS (
    SELECT
        s.trace_id, s.ordinal, s.step, s.marked, s.start_ns AS host_start_ns, s.end_ns AS host_end_ns,
        coalesce(d.activities, 0) AS activities,
        greatest(s.start_ns, s.end_ns, d.last_ns) AS reach_ns,
        CASE WHEN s.ordinal = 0 THEN greatest(s.start_ns, e.end_ns) ELSE s.start_ns END AS floor_ns,
        lag(coalesce(d.activities, 0)) OVER (PARTITION BY s.trace_id ORDER BY s.ordinal) AS activities_before,
        count(d.ordinal) OVER (PARTITION BY s.trace_id) > 0 AS on_device,
        count(*) OVER (PARTITION BY s.trace_id) AS steps,
        max(CASE WHEN d.ordinal IS NOT NULL THEN s.ordinal END) OVER (PARTITION BY s.trace_id) AS last_ordinal
    FROM _host_steps s
    LEFT JOIN device d ON d.trace_id = s.trace_id AND d.ordinal = s.ordinal
    LEFT JOIN earlier e ON e.trace_id = s.trace_id
),
placed AS (
    SELECT *,
        max(greatest(reach_ns, floor_ns)) OVER (PARTITION BY trace_id ORDER BY ordinal ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_ns,
        max(greatest(reach_ns, floor_ns)) OVER (PARTITION BY trace_id ORDER BY ordinal ROWS UNBOUNDED PRECEDING) AS last_ns
    FROM known
)
SELECT
    trace_id, ordinal, step, marked, host_start_ns, host_end_ns, activities,
    CASE WHEN on_device THEN greatest(floor_ns, before_ns) ELSE host_start_ns END AS start_ns,
    CASE WHEN on_device THEN last_ns ELSE host_end_ns END AS end_ns
FROM placed
WHERE NOT on_device OR steps = 1 OR ordinal < last_ordinal
    OR (ordinal = last_ordinal AND NOT (last_ordinal > 0 AND 0.8 * activities_before > activities))
