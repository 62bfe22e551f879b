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
-- @column flop BIGINT flop Floating point operations of one call; NULL if not measurable,
--   or if only bytes are known.
-- @column read_bytes BIGINT bytes Bytes that one call reads; NULL if not measurable.
-- @column written_bytes BIGINT bytes Bytes that one call writes; NULL if not measurable.
-- @column quality VARCHAR text exact, lower_bound, bounds (these are the lower ones), recorded or
--   estimate; NULL if it is not measurable.
-- @column reason VARCHAR text Why it is not measurable; NULL if it is.
WITH calls AS (
    SELECT
        o.trace_id, o.rank, o.name, o.input_shapes, f.input_types,
        CASE WHEN f.needs_values THEN f.arguments END AS arguments,
        f.form, f.dtype, f.flop, f.read_bytes, f.written_bytes, f.quality,
        CASE WHEN f.event_id IS NULL THEN 'no formula for this operator in operator_formulas'
            ELSE f.reason END AS reason,
        count(*) AS calls,
        sum(o.host_self_ns) AS host_self_ns,
        sum(o.device_self_ns) AS device_self_ns
    FROM operator_calls o
    LEFT JOIN _call_figures f ON f.trace_id = o.trace_id AND f.event_id = o.event_id
    GROUP BY
        o.trace_id, o.rank, o.name, o.input_shapes, f.input_types,
        CASE WHEN f.needs_values THEN f.arguments END,
        f.form, f.dtype, f.flop, f.read_bytes, f.written_bytes, f.quality,
        CASE WHEN f.event_id IS NULL THEN 'no formula for this operator in operator_formulas'
            ELSE f.reason END
)
SELECT
    trace_id, rank, name, input_shapes, input_types, arguments, form, dtype, calls, host_self_ns,
    device_self_ns, flop, read_bytes, written_bytes, quality, reason
FROM calls
