-- Operators by how much they compute per byte they touch: low values are bound by memory, not by arithmetic.
--
-- Counted for matrix products, whose shapes say it (aten::mm, addmm, bmm, baddbmm; record_shapes=True): 2 m k n operations a matrix, and both
-- factors and the product touched once. verdict is memory bound below memory_bound_flop_per_byte (10), compute bound above, and not measurable for all other
-- operators that launch device work: convolutions (the output's shape is not recorded), elementwise and fused ones. The ridge of a device, its peak
-- arithmetic by its bandwidth, is higher for low precision; set the limit to it.
--
-- Source: the memory bound rule that PRISM's training profiler names but does not define.
-- Example: SELECT name, input_shapes, flop_per_byte, verdict FROM memory_bound_operations WHERE verdict <> 'not measurable' LIMIT 5
--
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column name VARCHAR text Name of the operator.
-- @column input_shapes VARCHAR json Shapes of the inputs; [] if not recorded.
-- @column dtype VARCHAR text Type of the first matrix; NULL if it is not measurable.
-- @column calls BIGINT count Calls with device work of their own.
-- @column device_self_ns BIGINT ns Their own device time.
-- @column device_self_pct DOUBLE pct device_self_ns as percent of that of all operators of the trace.
-- @column operations BIGINT flop Floating point operations of all calls; NULL if not measurable.
-- @column touched_bytes BIGINT bytes Bytes of inputs and outputs of all calls; NULL if not measurable.
-- @column flop_per_byte DOUBLE number operations by touched_bytes; NULL if not measurable.
-- @column achieved_tflop_s DOUBLE TFLOP/s operations by device_self_ns; NULL if not measurable.
-- @column verdict VARCHAR text memory bound, compute bound or not measurable.
WITH calls AS (
    SELECT o.trace_id, o.rank, o.name, o.input_shapes, e.input_types, count(*) AS calls, sum(o.device_self_ns) AS device_self_ns
    FROM operator_calls o
    JOIN events e ON e.trace_id = o.trace_id AND e.event_id = o.event_id
    WHERE o.device_self_ns > 0
    GROUP BY o.trace_id, o.rank, o.name, o.input_shapes, e.input_types
),
split AS (
    SELECT
        *,
        CASE WHEN name IN ('aten::mm', 'aten::bmm') THEN 1 WHEN name IN ('aten::addmm', 'aten::baddbmm') THEN 2 END AS first,
        string_to_array(regexp_replace(replace(input_shapes, ' ', ''), '^\[\[|\]\]$', '', 'g'), '],[') AS shapes,
        string_to_array(regexp_replace(replace(input_types, '", "', '","'), '^\["|"\]$', '', 'g'), '","') AS types
    FROM calls
),
matrices AS (
    SELECT
        *,
        string_to_array(shapes[first], ',') AS a,
        string_to_array(shapes[first + 1], ',') AS b,
        types[first] AS type,
        CASE WHEN name IN ('aten::bmm', 'aten::baddbmm') THEN 3 ELSE 2 END AS dims
    FROM split
),
sizes AS (
    SELECT
        *,
        CASE WHEN dims = 3 THEN try_cast(a[1] AS BIGINT) ELSE 1 END AS batch,
        try_cast(a[dims - 1] AS BIGINT) AS m,
        try_cast(a[dims] AS BIGINT) AS k,
        try_cast(b[dims] AS BIGINT) AS n,
        dtype_bytes(type) AS width
    FROM matrices
),
counted AS (
    SELECT
        trace_id, rank, name, input_shapes, calls, device_self_ns,
        CASE WHEN first IS NOT NULL AND array_length(a) = dims AND array_length(b) = dims AND width > 0 THEN type END AS dtype,
        CASE WHEN first IS NOT NULL AND array_length(a) = dims AND array_length(b) = dims AND width > 0 THEN 2 * batch * m * k * n * calls END AS operations,
        CASE WHEN first IS NOT NULL AND array_length(a) = dims AND array_length(b) = dims AND width > 0
            THEN batch * (m * k + k * n + m * n) * width * calls
        END AS touched_bytes
    FROM sizes
)
SELECT
    trace_id, rank, name, input_shapes, dtype, calls, device_self_ns,
    100.0 * device_self_ns / nullif(sum(device_self_ns) OVER (PARTITION BY trace_id), 0) AS device_self_pct,
    operations, touched_bytes,
    CAST(operations AS DOUBLE) / nullif(touched_bytes, 0) AS flop_per_byte,
    CAST(operations AS DOUBLE) / device_self_ns / 1000 AS achieved_tflop_s,
    CASE
        WHEN operations IS NULL OR touched_bytes = 0 THEN 'not measurable'
        WHEN CAST(operations AS DOUBLE) / touched_bytes < setting('memory_bound_flop_per_byte') THEN 'memory bound'
        ELSE 'compute bound'
    END AS verdict
FROM counted
