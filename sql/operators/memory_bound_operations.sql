-- Arithmetic intensity of operators: operations per byte touched; low values are bound by memory.
--
-- Counted from the shapes of inputs, as in operator_costs (record_shapes=True): matrix products,
-- convolutions, attention, elementwise operators, reductions, softmax, normalisation, embedding,
-- copies; formulas are in operator_formulas. verdict is memory bound below
-- memory_bound_flop_per_byte (10), compute bound above, and not measurable for other operators that
-- launch device work and where shapes were not recorded; reason says which. The ridge of a device,
-- its peak arithmetic by its bandwidth, is higher for low precision; set the limit to it.
--
-- Source: the memory bound rule that PRISM's training profiler names but does not define.
-- Example: SELECT name, input_shapes, flop_per_byte, verdict FROM memory_bound_operations
--   WHERE verdict <> 'not measurable' LIMIT 5
-- Range: sum device_self_ns
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column name VARCHAR text Name of the operator.
-- @column input_shapes VARCHAR json Shapes of the inputs; [] if not recorded.
-- @column dtype VARCHAR text Type of the tensor the formula is about; NULL if it is not measurable.
-- @column calls BIGINT count Calls with these shapes, types and arguments.
-- @column device_self_ns BIGINT ns Their own device time.
-- @column device_self_pct DOUBLE pct device_self_ns as percent of the time of all kernels, copies
--   and fills of the trace.
-- @column operations BIGINT flop Floating point operations of all calls; NULL if not measurable.
-- @column touched_bytes BIGINT bytes Bytes that all calls read and write; NULL if not measurable.
-- @column flop_per_byte DOUBLE number operations by touched_bytes; NULL if not measurable.
-- @column achieved_tflop_s DOUBLE TFLOP/s operations by device_self_ns; NULL if not measurable.
-- @column achieved_gb_s DOUBLE GB/s touched_bytes by device_self_ns; NULL if not measurable.
-- @column verdict VARCHAR text memory bound, compute bound or not measurable.
-- @column reason VARCHAR text Why it is not measurable; NULL if it is.
WITH device AS (
    SELECT trace_id, sum(dur_ns) AS device_ns FROM _device_work GROUP BY trace_id
),
worked AS (
    SELECT
        trace_id, rank, name, input_shapes, dtype, calls, device_self_ns, reason,
        calls * flop AS operations,
        calls * (read_bytes + written_bytes) AS touched_bytes
    FROM operator_costs
    WHERE device_self_ns > 0
)
SELECT
    w.trace_id, w.rank, w.name, w.input_shapes,
    CASE WHEN reason IS NULL THEN dtype END AS dtype,
    calls, device_self_ns,
    100.0 * device_self_ns / nullif(d.device_ns, 0) AS device_self_pct,
    operations, touched_bytes,
    CAST(operations AS DOUBLE) / nullif(touched_bytes, 0) AS flop_per_byte,
    CAST(operations AS DOUBLE) / device_self_ns / 1000 AS achieved_tflop_s,
    CAST(touched_bytes AS DOUBLE) / device_self_ns AS achieved_gb_s,
    CASE
        WHEN operations IS NULL OR touched_bytes = 0 THEN 'not measurable'
        WHEN CAST(operations AS DOUBLE) / touched_bytes < setting('memory_bound_flop_per_byte')
            THEN 'memory bound'
        ELSE 'compute bound'
    END AS verdict,
    CASE
        WHEN touched_bytes = 0 THEN 'nothing is read or written'
        WHEN operations IS NULL AND reason IS NULL THEN 'operations of the kernel are not recorded'
        ELSE reason
    END AS reason
FROM worked w
LEFT JOIN device d ON d.trace_id = w.trace_id
