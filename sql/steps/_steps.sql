-- Steps extended to the end of the device work that they launched. Each step starts when the
-- previous one ends.
--
-- Device work belongs to the step that encloses its whole launch. A trace without steps has a
-- single step with the number 0; if it has no operators either, all device work belongs to it.
-- Other work that ends before the first device work of the first step delays the start of that step. Steps at the end without device work are left out. The last
-- step is also left out if it has less than 0.8 of the device work of the step before, because
-- profiling ended before its work did. Steps do not overlap.
-- @scope trace
WITH launches AS (
    SELECT trace_id, event_id, coalesce(step, 0) AS step, ts_ns, end_ns FROM _work_launches
),
device_windows AS (
    SELECT trace_id, ordinal FROM _host_steps WHERE is_device_window
),
work AS (
    SELECT
        d.trace_id, coalesce(v.ordinal, s.ordinal) AS ordinal, d.ts_ns, d.end_ns,
        min(CASE WHEN coalesce(v.ordinal, s.ordinal) = 0 THEN d.ts_ns END)
            OVER (PARTITION BY d.trace_id) AS first_ns
    FROM kernels d
    LEFT JOIN device_windows v ON v.trace_id = d.trace_id
    LEFT JOIN launches l ON l.trace_id = d.trace_id AND l.event_id = d.launch_id
    LEFT JOIN _host_steps s
        ON s.trace_id = l.trace_id
            AND s.step = l.step
            AND l.ts_ns >= s.start_ns
            AND l.end_ns <= s.end_ns
    WHERE d.kind IN ('kernel', 'memcpy', 'memset') AND d.dur_ns IS NOT NULL
),
device AS (
    SELECT
        *,
        max(CASE WHEN ordinal = -1 THEN last_ns END) OVER (PARTITION BY trace_id) AS earlier_ns
    FROM (
        SELECT
            trace_id,
            coalesce(ordinal, -1) AS ordinal,
            count(*) AS activities,
            max(end_ns) AS last_ns
        FROM work
        WHERE ordinal IS NOT NULL OR end_ns < first_ns
        GROUP BY trace_id, coalesce(ordinal, -1)
    )
),
known AS (
    SELECT
        s.trace_id, s.ordinal, s.step, s.is_marked,
        coalesce(d.activities, 0) AS activities,
        greatest(s.start_ns, CASE WHEN s.ordinal = 0 THEN d.earlier_ns END) AS floor_ns,
        greatest(s.start_ns, s.end_ns, d.last_ns) AS reach_ns,
        lag(coalesce(d.activities, 0)) OVER (PARTITION BY s.trace_id ORDER BY s.ordinal)
            AS activities_before,
        max(CASE WHEN d.ordinal IS NOT NULL THEN s.ordinal END) OVER (PARTITION BY s.trace_id)
            AS last_ordinal,
        count(*) OVER (PARTITION BY s.trace_id) AS steps
    FROM _host_steps s
    LEFT JOIN device d ON d.trace_id = s.trace_id AND d.ordinal = s.ordinal
),
placed AS (
    SELECT *,
        max(greatest(reach_ns, floor_ns)) OVER (
            PARTITION BY trace_id ORDER BY ordinal ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS before_ns,
        max(greatest(reach_ns, floor_ns)) OVER (
            PARTITION BY trace_id ORDER BY ordinal ROWS UNBOUNDED PRECEDING
        ) AS end_ns
    FROM known
)
SELECT
    trace_id, ordinal, step, is_marked, activities,
    greatest(floor_ns, before_ns) AS start_ns,
    end_ns
FROM placed
WHERE last_ordinal IS NULL OR steps = 1 OR ordinal < last_ordinal
    OR (ordinal = last_ordinal AND NOT (last_ordinal > 0 AND 0.8 * activities_before > activities))
