-- Steps as torch-tb-profiler 0.4.3 finds them: on the host and, a second time, as annotations of
-- devices.
-- @scope trace
WITH calls AS (
    SELECT trace_id, kind, name, start_us, end_us, event_id
    FROM _tb_calls
    WHERE kind NOT IN ('launch', 'module', 'collective')
),
extents AS (
    SELECT
        trace_id,
        min(start_us) AS start_us,
        max(end_us) AS end_us,
        bool_or(kind = 'step') AS has_steps
    FROM calls
    GROUP BY trace_id
),
every AS (
    SELECT
        trace_id,
        CAST(split_part(name, '#', 2) AS BIGINT) AS step,
        start_us, end_us, event_id,
        true AS is_marked
    FROM calls
    WHERE kind = 'step'
    UNION ALL
    SELECT trace_id, 0, start_us, end_us, -1, false FROM extents WHERE NOT has_steps
)
SELECT
    *,
    CAST(
        row_number() OVER (PARTITION BY trace_id ORDER BY start_us, event_id) AS BIGINT
    ) - 1 AS ordinal
FROM every
