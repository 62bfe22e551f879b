-- What what_if and sensitivities change: kinds of work, and the kernels and operators with the most
-- time on the critical path of the whole trace; for what_if also what the setting what_if_name
-- names.
-- @scope trace
WITH ranked AS (
    SELECT
        trace_id, dimension, value,
        row_number() OVER (
            PARTITION BY trace_id, dimension ORDER BY path_ns DESC, value
        ) AS place
    FROM _path_times
    WHERE window_id = 0 AND dimension IN ('kernel', 'operator')
),
targets AS (
    SELECT trace_id, dimension AS target_kind, value AS name
    FROM ranked
    WHERE place <= setting_int('what_if_top')
    UNION ALL
    SELECT
        trace_id,
        unnest(make_array(
            'compute', 'communication', 'copy', 'launch', 'data_loading', 'hidden_communication',
            'cuda_graphs'
        )),
        CAST(NULL AS VARCHAR)
    FROM traces
    UNION ALL
    SELECT trace_id, 'named', setting_text('what_if_name')
    FROM traces
    WHERE coalesce(setting_text('what_if_name'), '') <> ''
)
SELECT
    trace_id, target_kind, name,
    CAST(
        row_number() OVER (PARTITION BY trace_id ORDER BY target_kind, name NULLS FIRST) AS BIGINT
    ) AS target
FROM targets
