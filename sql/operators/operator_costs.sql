-- Cost of operator calls by the shapes of their inputs: floating point operations, bytes read,
-- bytes written.
--
-- One row per operator, shapes, types and, where the formula needs them, values of arguments
-- (record_shapes=True). Figures are those of one call, by operator_formulas; each input is read
-- once and each result written once; caches are not modelled. The result of an operator that
-- changes its first argument in place has that one's type, else that of the widest input. What
-- cannot be counted has NULL figures and a reason; an operator that calls another one (aten::linear
-- calls aten::addmm) has a row too, so sums over all rows count twice: take rows with
-- device_self_ns > 0, or the operators you mean.
--
-- Source: PyTorch's with_flops for matrix products, convolutions, sums and products;
--   operator_formulas has the others.
-- Example: SELECT name, input_shapes, calls, flop, read_bytes, written_bytes FROM operator_costs
--   WHERE reason IS NULL ORDER BY flop DESC LIMIT 5
-- Range: sum host_self_ns, device_self_ns
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column name VARCHAR text Name of the operator.
-- @column input_shapes VARCHAR json Shapes of the inputs; [] if not recorded.
-- @column input_types VARCHAR json Types of the inputs; NULL if not recorded.
-- @column arguments VARCHAR json Values of arguments; NULL if not recorded, or where the formula
--   does not need them.
-- @column form VARCHAR text How it is counted (operator_formulas.form); NULL if there is no
--   formula.
-- @column dtype VARCHAR text Type of the tensor the formula is about; NULL if not recorded.
-- @column calls BIGINT count Number of calls.
-- @column host_self_ns BIGINT ns Their own time on the host.
-- @column device_self_ns BIGINT ns Their own device time.
-- @column flop BIGINT flop Floating point operations of one call; NULL if not measurable.
-- @column read_bytes BIGINT bytes Bytes that one call reads; NULL if not measurable.
-- @column written_bytes BIGINT bytes Bytes that one call writes; NULL if not measurable.
-- @column reason VARCHAR text Why it is not measurable; NULL if it is.
WITH calls AS (
    SELECT
        o.trace_id, o.rank, o.name, o.input_shapes, e.input_types, f.form,
        coalesce(f.stride_at, f.mask_at, f.dims_at) IS NOT NULL AS needs_values,
        CASE
            WHEN coalesce(f.dims_at, f.causal_at, f.stride_at, f.mask_at) IS NOT NULL
                THEN e.concrete_inputs
        END AS arguments,
        count(*) AS calls,
        sum(o.host_self_ns) AS host_self_ns,
        sum(o.device_self_ns) AS device_self_ns
    FROM operator_calls o
    JOIN events e ON e.trace_id = o.trace_id AND e.event_id = o.event_id
    LEFT JOIN operator_formulas f ON f.name = o.name
    GROUP BY
        o.trace_id, o.rank, o.name, o.input_shapes, e.input_types, f.form,
        coalesce(f.stride_at, f.mask_at, f.dims_at) IS NOT NULL,
        CASE
            WHEN coalesce(f.dims_at, f.causal_at, f.stride_at, f.mask_at) IS NOT NULL
                THEN e.concrete_inputs
        END
)
SELECT
    f.trace_id, f.rank, f.name, f.input_shapes, f.input_types, f.arguments, f.form,
    nullif(j.dtype, '') AS dtype,
    f.calls, f.host_self_ns, f.device_self_ns,
    CASE WHEN j.is_measurable THEN j.flop END AS flop,
    CASE WHEN j.is_measurable THEN j.read_bytes END AS read_bytes,
    CASE WHEN j.is_measurable THEN j.written_bytes END AS written_bytes,
    CASE
        WHEN f.form IS NULL THEN 'no formula for this operator in operator_formulas'
        WHEN coalesce(json_length(f.input_shapes), 0) = 0
            THEN 'shapes were not recorded: profile with record_shapes=True'
        WHEN f.input_types IS NULL THEN 'types of inputs were not recorded'
        WHEN j.is_measurable THEN NULL
        WHEN j.is_unknown THEN 'the type of an input was not recorded'
        WHEN f.arguments IS NULL AND f.needs_values
            THEN 'values of arguments were not recorded: traces of PyTorch 2 have them'
        ELSE 'the shapes of the inputs are not those the formula is for'
    END AS reason
FROM calls f
LEFT JOIN _operator_counts j
    ON j.name = f.name AND j.input_shapes = f.input_shapes AND j.input_types = f.input_types
    AND (j.arguments IS NOT DISTINCT FROM f.arguments)
