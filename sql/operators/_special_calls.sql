-- Calls whose figures depend on more than their arguments: attention over a cache of keys and
-- values, and kernels of Triton with recorded figures.
--
-- Lengths of sequences come from the mark around the call on its thread, preferably one with
-- detail. Recorded operations of 0 mean that they were not counted. kind_id is below -1 and equal
-- for equal calls.
-- @scope trace
WITH listed AS (
    SELECT
        k.trace_id, k.name, k.input_dims, k.input_types, k.concrete_inputs, f.form,
        unnest(k.event_ids) AS event_id
    FROM _plain_kinds k
    JOIN operator_forms f
        ON f.name = CASE WHEN starts_with(k.name, 'triton_') THEN 'triton_*' ELSE k.name END
    WHERE f.form = 'cached_attention' OR f.name = 'triton_*'
),
-- Joins with events read nothing of them if there are no such calls.
attention AS (
    SELECT l.*, e.track_id, e.ts_ns, e.end_ns
    FROM listed l
    JOIN events e ON e.trace_id = l.trace_id AND e.event_id = l.event_id
    WHERE l.form = 'cached_attention'
),
triton AS (
    SELECT
        l.trace_id, l.event_id, l.name, l.input_dims, l.input_types, l.concrete_inputs,
        max(CASE WHEN e.args LIKE '%kernel_num_gb%' THEN e.args END) AS args
    FROM listed l
    JOIN events e ON e.trace_id = l.trace_id AND e.event_id = l.event_id
    WHERE starts_with(l.name, 'triton_')
    GROUP BY
        l.trace_id, l.event_id, l.name, l.input_dims, l.input_types, l.concrete_inputs
),
marks AS (
    SELECT trace_id, track_id, ts_ns, end_ns, name
    FROM events
    WHERE cat = 'user_annotation'
        AND (starts_with(name, 'execute_') OR starts_with(name, 'step[')
            OR starts_with(name, 'prefill[') OR starts_with(name, 'decode['))
),
found AS (
    SELECT
        a.trace_id, a.event_id,
        max(a.name) AS name,
        max(a.input_dims) AS input_dims,
        max(a.input_types) AS input_types,
        max(a.concrete_inputs) AS concrete_inputs,
        first_value(m.name ORDER BY m.name LIKE '%sqsk%' DESC, m.ts_ns DESC) AS mark,
        CAST(NULL AS BIGINT) AS recorded_bytes,
        CAST(NULL AS BIGINT) AS recorded_flop
    FROM attention a
    JOIN marks m
        ON m.trace_id = a.trace_id AND m.track_id = a.track_id
            AND m.ts_ns <= a.ts_ns AND m.end_ns >= a.end_ns
    GROUP BY a.trace_id, a.event_id
    UNION ALL
    SELECT
        trace_id, event_id, name, input_dims, input_types, concrete_inputs,
        CAST(NULL AS VARCHAR),
        CAST(round(json_get_float(args, 'kernel_num_gb') * 1e9) AS BIGINT),
        nullif(json_get_int(args, 'kernel_flop'), 0)
    FROM triton
    WHERE json_get_str(args, 'kernel_backend') = 'triton'
        AND json_get_float(args, 'kernel_num_gb') BETWEEN 0.000000001 AND 1000000
)
SELECT
    *,
    -2 - min(event_id) OVER (
        PARTITION BY
            trace_id, name, input_dims, input_types, concrete_inputs, mark, recorded_bytes,
            recorded_flop
    ) AS kind_id
FROM found
