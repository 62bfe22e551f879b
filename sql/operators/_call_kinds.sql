-- Each different call of an operator with what it computes, reads and writes, or the reason why
-- that is not known. Equal calls have one row.
--
-- Figures that Inductor recorded with a kernel of Triton replace those by its pointers. Templates of
-- products run on matrix units, other kernels of Triton do not.
-- @scope trace
WITH kinds AS (
    SELECT
        trace_id, kind_id, name, input_dims, input_types, concrete_inputs,
        CAST(NULL AS VARCHAR) AS mark,
        CAST(NULL AS BIGINT) AS recorded_bytes,
        CAST(NULL AS BIGINT) AS recorded_flop
    FROM _plain_kinds
    UNION ALL
    SELECT
        trace_id, kind_id, name, input_dims, input_types, concrete_inputs, mark, recorded_bytes,
        recorded_flop
    FROM (
        SELECT
            *, row_number() OVER (PARTITION BY trace_id, kind_id ORDER BY event_id) AS number
        FROM _special_calls
    ) AS s
    WHERE number = 1
),
counted AS (
    SELECT
        k.*, f.form, f.unit, coalesce(f.is_wrapper, false) AS is_wrapper,
        CASE WHEN f.needs_values THEN true END AS needs_values,
        operator_figures(
            k.name, f.form, f.options, k.input_dims, k.input_types, k.concrete_inputs, k.mark
        ) AS figures,
        f.form = 'pointers' AND regexp_like(k.name, '^triton_(tem|mm)') AS is_template
    FROM kinds k
    LEFT JOIN operator_forms f
        ON f.name = CASE WHEN starts_with(k.name, 'triton_') THEN 'triton_*' ELSE k.name END
)
SELECT
    trace_id, kind_id, name,
    coalesce(input_dims, '[]') AS input_shapes, input_types,
    concrete_inputs AS arguments,
    form,
    CASE
        WHEN is_template AND coalesce(recorded_flop, figures['flop']) > 0 THEN 'matrix'
        ELSE unit
    END AS unit,
    is_wrapper, needs_values,
    figures['dtype'] AS dtype,
    CASE
        WHEN is_template AND coalesce(recorded_flop, figures['flop']) > 0
            THEN CASE figures['dtype']
                WHEN 'c10::BFloat16' THEN 'bf16' WHEN 'c10::Half' THEN 'fp16'
                WHEN 'float' THEN 'fp32' WHEN 'double' THEN 'fp64'
            END
        ELSE figures['compute_type']
    END AS compute_type,
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
