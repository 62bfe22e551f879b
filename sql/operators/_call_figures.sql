-- Each call of an operator with what it computes, reads and writes, or the reason why that is not
-- known.
--
-- Lengths of sequences of attention over a cache come from the mark around the call on its thread,
-- preferably one with detail. Figures that Inductor recorded with a kernel of Triton replace those
-- by its pointers; 0 operations there mean that they were not counted.
-- @scope trace
WITH operators AS (
    SELECT
        e.trace_id, e.event_id, e.track_id, e.ts_ns, e.end_ns, e.name, e.input_dims, e.input_types,
        e.concrete_inputs, f.form, f.unit, coalesce(f.is_wrapper, false) AS is_wrapper,
        CASE WHEN f.needs_values THEN true END AS needs_values, f.options
    FROM events e
    LEFT JOIN operator_forms f
        ON f.name = CASE WHEN starts_with(e.name, 'triton_') THEN 'triton_*' ELSE e.name END
    WHERE e.cat IN ('cpu_op', 'Operator', 'operator') AND e.name IS NOT NULL
),
marks AS (
    SELECT trace_id, track_id, ts_ns, end_ns, name
    FROM events
    WHERE cat = 'user_annotation'
        AND (starts_with(name, 'execute_') OR starts_with(name, 'step[')
            OR starts_with(name, 'prefill[') OR starts_with(name, 'decode['))
),
marked AS (
    SELECT
        o.trace_id, o.event_id,
        first_value(m.name ORDER BY m.name LIKE '%sqsk%' DESC, m.ts_ns DESC) AS mark
    FROM operators o
    JOIN marks m
        ON m.trace_id = o.trace_id AND m.track_id = o.track_id
            AND m.ts_ns <= o.ts_ns AND m.end_ns >= o.end_ns
    WHERE o.form = 'cached_attention'
    GROUP BY o.trace_id, o.event_id
),
recorded AS (
    SELECT
        trace_id, event_id,
        CAST(round(json_get_float(args, 'kernel_num_gb') * 1e9) AS BIGINT) AS bytes,
        nullif(json_get_int(args, 'kernel_flop'), 0) AS flop
    FROM events
    WHERE starts_with(name, 'triton_') AND cat = 'cpu_op'
        AND json_get_str(args, 'kernel_backend') = 'triton'
        AND json_get_float(args, 'kernel_num_gb') BETWEEN 0.000000001 AND 1000000
),
counted AS (
    SELECT
        o.*, r.bytes AS recorded_bytes, r.flop AS recorded_flop,
        operator_figures(
            o.name, o.form, o.options, o.input_dims, o.input_types, o.concrete_inputs, m.mark
        ) AS figures
    FROM operators o
    LEFT JOIN marked m ON m.trace_id = o.trace_id AND m.event_id = o.event_id
    LEFT JOIN recorded r ON r.trace_id = o.trace_id AND r.event_id = o.event_id
)
SELECT
    trace_id, event_id, track_id, name,
    coalesce(input_dims, '[]') AS input_shapes, input_types,
    concrete_inputs AS arguments,
    form, unit, is_wrapper, needs_values,
    figures['dtype'] AS dtype,
    figures['compute_type'] AS compute_type,
    coalesce(recorded_flop, figures['flop']) AS flop,
    coalesce(recorded_flop, figures['flop_full']) AS flop_full,
    figures['flop_upper'] AS flop_upper,
    coalesce(recorded_bytes, figures['read_bytes']) AS read_bytes,
    CASE WHEN recorded_bytes IS NULL THEN figures['written_bytes'] ELSE 0 END AS written_bytes,
    CASE WHEN recorded_bytes IS NULL THEN figures['bytes_upper'] END AS bytes_upper,
    figures['batch'] AS batch,
    figures['m'] AS m,
    figures['n'] AS n,
    figures['k'] AS k,
    figures['dilation'] AS dilation,
    CASE WHEN recorded_bytes IS NULL THEN figures['quality'] ELSE 'recorded' END AS quality,
    CASE WHEN recorded_bytes IS NULL THEN figures['reason'] END AS reason
FROM counted
