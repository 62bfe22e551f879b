-- Steps of torch-tb-profiler 0.4.3, extended to the end of the device work that they launched. Each
-- step starts when the extended previous step ends.
--
-- Device work belongs to the step that encloses its whole launch. Other work that ends before the
-- first device work of the first step delays the start of that step. Steps at the end without
-- device work are left out. The last step is also left out if it has less than 0.8 of the device
-- work of the step before, because profiling ended before its work did.
-- @scope trace
WITH launches AS (
    SELECT trace_id, event_id, coalesce(step, 0) AS step, start_us, end_us
    FROM _tb_calls
    WHERE kind = 'launch'
),
work AS (
    SELECT
        d.trace_id, s.ordinal, d.start_us, d.end_us,
        min(CASE WHEN s.ordinal = 0 THEN d.start_us END) OVER (PARTITION BY d.trace_id) AS first_us
    FROM _tb_work d
    LEFT JOIN launches l ON l.trace_id = d.trace_id AND l.event_id = d.launch_id
    LEFT JOIN _tb_host_steps s
        ON s.trace_id = l.trace_id
            AND s.step = l.step
            AND l.start_us >= s.start_us
            AND l.end_us <= s.end_us
),
device AS (
    SELECT
        trace_id,
        coalesce(ordinal, -1) AS ordinal,
        count(*) AS activities,
        max(end_us) AS last_us
    FROM work
    WHERE ordinal IS NOT NULL OR end_us < first_us
    GROUP BY trace_id, coalesce(ordinal, -1)
),
known AS (
    SELECT
        s.trace_id, s.ordinal, s.step, s.is_marked,
        s.start_us AS host_start_us,
        s.end_us AS host_end_us,
        coalesce(d.activities, 0) AS activities,
        greatest(s.start_us, s.end_us, d.last_us) AS reach_us,
        greatest(s.start_us, e.last_us) AS floor_us,
        lag(coalesce(d.activities, 0)) OVER (PARTITION BY s.trace_id ORDER BY s.ordinal)
            AS activities_before,
        count(d.ordinal) OVER (PARTITION BY s.trace_id) > 0 AS on_device,
        count(*) OVER (PARTITION BY s.trace_id) AS steps,
        max(CASE WHEN d.ordinal IS NOT NULL THEN s.ordinal END) OVER (PARTITION BY s.trace_id)
            AS last_ordinal
    FROM _tb_host_steps s
    LEFT JOIN device d ON d.trace_id = s.trace_id AND d.ordinal = s.ordinal
    LEFT JOIN device e ON e.trace_id = s.trace_id AND e.ordinal = -1 AND s.ordinal = 0
),
placed AS (
    SELECT *,
        max(greatest(reach_us, floor_us)) OVER (
            PARTITION BY trace_id ORDER BY ordinal ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS before_us,
        max(greatest(reach_us, floor_us)) OVER (
            PARTITION BY trace_id ORDER BY ordinal ROWS UNBOUNDED PRECEDING
        ) AS last_us
    FROM known
)
SELECT
    trace_id, ordinal, step, is_marked, host_start_us, host_end_us, activities,
    CASE WHEN on_device THEN greatest(floor_us, before_us) ELSE host_start_us END AS start_us,
    CASE WHEN on_device THEN last_us ELSE host_end_us END AS end_us
FROM placed
WHERE NOT on_device OR steps = 1 OR ordinal < last_ordinal
    OR (ordinal = last_ordinal AND NOT (last_ordinal > 0 AND 0.8 * activities_before > activities))
