-- Calls of modules: marks of PyTorch Lightning if the trace has them, or else nn.Module frames of
-- Python stacks.
--
-- name is the instance, which distinguishes instances of one class. PyTorch 1.12 writes only the
-- class. The number that later versions add is then taken from Python module id. For Lightning,
-- name is the whole dotted path of the mark.
-- @scope trace
WITH calls AS (
    SELECT
        trace_id, event_id, track_id, step, ts_ns,
        greatest(dur_ns, 0) AS dur_ns,
        greatest(end_ns, ts_ns) AS end_ns,
        name, python_module_id,
        cat <> 'python_function' AS is_lightning
    FROM events
    WHERE dur_ns IS NOT NULL
        AND (cat = 'python_function' AND python_module_id IS NOT NULL
            OR cat IN ('cpu_op', 'user_annotation', 'Operator', 'operator')
            AND starts_with(name, '[pl][module]')
        )
),
sources AS (
    SELECT *, bool_or(is_lightning) OVER (PARTITION BY trace_id) AS has_lightning FROM calls
)
SELECT
    trace_id, event_id, track_id, step, ts_ns, dur_ns, end_ns,
    CASE WHEN is_lightning THEN 'lightning' ELSE 'python' END AS source,
    CASE
        WHEN is_lightning THEN split_part(name, ': ', 2)
        WHEN regexp_like(name, '_[0-9]+$') THEN replace(name, 'nn.Module: ', '')
        ELSE concat(replace(name, 'nn.Module: ', ''), '_', python_module_id)
    END AS name,
    CASE
        WHEN is_lightning THEN replace(split_part(name, ': ', 1), '[pl][module]', '')
        ELSE regexp_replace(replace(name, 'nn.Module: ', ''), '_[0-9]+$', '')
    END AS class
FROM sources
WHERE is_lightning = has_lightning
