-- Points of the strip beside a picture of the roofline: operators without operations, by bytes per
-- second.
--
-- One row per operator, shapes and types that moves bytes and computes nothing, or whose operations
-- are not known. Such work has no operations per byte, so it has no place among roofline_points;
-- its roof is the bandwidth of the memory. point_number orders the points of a device by their
-- time.
--
-- Source: lost_time.
-- Example: SELECT name, family, gb_s, bandwidth_gb_s, roofline_pct, device_pct
--   FROM bandwidth_points ORDER BY device, point_number LIMIT 5
-- Holds: gb_s > 0 AND bandwidth_gb_s > 0
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
-- @column calls BIGINT count Number of calls.
-- @column device_ns BIGINT ns Their device time, for the area of the point.
-- @column device_pct DOUBLE pct device_ns as percent of the work of the device.
-- @column gb_s DOUBLE GB/s Bytes per second: y of the point.
-- @column bandwidth_gb_s DOUBLE GB/s Bandwidth of the memory: the roof above the point.
-- @column roofline_pct DOUBLE pct How much of the roof is reached.
-- @column computes BOOLEAN flag FALSE if the operator computes nothing; NULL if its operations are
--   not known.
-- @column is_exact BOOLEAN flag Whether the figures are exact or recorded; others are drawn hollow.
-- @column cause VARCHAR text The likely cause of lost time; NULL if nothing stands out.
-- @column figure VARCHAR text The quantity behind the cause; NULL without a cause.
SELECT
    trace_id, rank, device,
    CAST(row_number() OVER (
        PARTITION BY trace_id, device ORDER BY device_ns DESC, name, input_shapes, input_types
    ) AS BIGINT) AS point_number,
    name, input_shapes, family, calls, device_ns, device_pct, gb_s,
    peak_gb_s AS bandwidth_gb_s,
    roofline_pct,
    CASE WHEN tflop_s = 0 THEN false END AS computes,
    quality IN ('exact', 'recorded') AS is_exact,
    cause, figure
FROM lost_time
WHERE coalesce(tflop_s, 0) = 0 AND gb_s > 0 AND peak_gb_s > 0
