-- Lines of a picture of the roofline: for each device and precision that occurs, the peak of
-- arithmetic, the bandwidth, and the ridge where both meet.
--
-- A roof rises with bandwidth_gb_s / 1000 TFLOP/s for each operation per byte up to ridge, and is
-- flat at peak_tflop_s from there. Work outside of matrix units (unit vector) has a roof of its
-- own. A device or a precision without peaks has no row; device_roofline has the reason.
--
-- Source: operator_roofline, device_peaks.
-- Example: SELECT device, unit, dtype, peak_tflop_s, bandwidth_gb_s, ridge FROM roofline_roofs
-- Holds: abs(ridge * bandwidth_gb_s / 1000 - peak_tflop_s) < 0.000001 * peak_tflop_s
-- Range: sum device_ns
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column device BIGINT id Device; NULL where none was written.
-- @column unit VARCHAR text matrix or vector: the units of the device.
-- @column dtype VARCHAR text Precision of the peak.
-- @column peak_tflop_s DOUBLE TFLOP/s The flat part of the roof.
-- @column bandwidth_gb_s DOUBLE GB/s Bandwidth of the memory: the slope of the roof.
-- @column ridge DOUBLE number Operations per byte at which both parts meet.
-- @column calls BIGINT count Calls under this roof.
-- @column device_ns BIGINT ns Their device time.
SELECT
    trace_id, rank, device, unit, dtype, peak_tflop_s, peak_gb_s AS bandwidth_gb_s,
    1000 * peak_tflop_s / peak_gb_s AS ridge,
    sum(calls) AS calls,
    sum(device_ns) AS device_ns
FROM operator_roofline
WHERE flop > 0 AND peak_tflop_s > 0 AND peak_gb_s > 0
GROUP BY trace_id, rank, device, unit, dtype, peak_tflop_s, peak_gb_s
