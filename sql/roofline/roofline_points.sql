-- Points of a picture of the roofline: operators by operations per byte and operations per second.
--
-- One row per operator, shapes and types that have operations, bytes and a peak. point_number
-- orders the points of a device by their time, so that a picture may draw the first ones. Operators
-- that compute nothing, or whose operations are not known, have a rate in bytes only and are not
-- here; operator_roofline has them. The lines above the points are in roofline_roofs.
--
-- Source: lost_time; Williams, Waterman, Patterson: Roofline (2009).
-- Example: SELECT name, family, flop_per_byte, tflop_s, roof_tflop_s, device_pct
--   FROM roofline_points ORDER BY device, point_number LIMIT 5
-- Holds: flop_per_byte > 0 AND tflop_s > 0 AND roof_tflop_s > 0
-- Holds: abs(100 * tflop_s / roof_tflop_s - roofline_pct) < 0.0001 * roofline_pct
-- Range: sum device_ns
-- Range: any roofline_pct; calls can be above it (operator_roofline.over).
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column device BIGINT id Device; NULL where none was written.
-- @column point_number BIGINT number Place by device time among the points of the device, from 1.
-- @column name VARCHAR text Name of the operator.
-- @column input_shapes VARCHAR json Shapes of the inputs.
-- @column family VARCHAR text Family of the operator, for its colour.
-- @column dtype VARCHAR text Precision of the peak, for its roof.
-- @column calls BIGINT count Number of calls.
-- @column device_ns BIGINT ns Their device time, for the area of the point.
-- @column device_pct DOUBLE pct device_ns as percent of the work of the device.
-- @column flop_per_byte DOUBLE number Operations by bytes: x of the point.
-- @column tflop_s DOUBLE TFLOP/s Operations per second: y of the point.
-- @column gb_s DOUBLE GB/s Bytes per second.
-- @column roof_tflop_s DOUBLE TFLOP/s The roof above the point: the peak, or the intensity times
--   the bandwidth.
-- @column roofline_pct DOUBLE pct How much of the roof is reached.
-- @column bound VARCHAR text compute or memory.
-- @column is_exact BOOLEAN flag Whether the figures are exact or recorded; others are drawn hollow.
-- @column cause VARCHAR text The likely cause of lost time; NULL if nothing stands out.
-- @column figure VARCHAR text The quantity behind the cause; NULL without a cause.
SELECT
    trace_id, rank, device,
    CAST(row_number() OVER (
        PARTITION BY trace_id, device ORDER BY device_ns DESC, name, input_shapes, input_types
    ) AS BIGINT) AS point_number,
    name, input_shapes, family, dtype, calls, device_ns, device_pct, flop_per_byte, tflop_s,
    gb_s,
    least(peak_tflop_s, flop_per_byte * peak_gb_s / 1000) AS roof_tflop_s,
    roofline_pct, bound,
    quality IN ('exact', 'recorded') AS is_exact,
    cause, figure
FROM lost_time
WHERE flop_per_byte > 0 AND tflop_s > 0
