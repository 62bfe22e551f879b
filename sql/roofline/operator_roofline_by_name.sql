-- The roofline by operator or by family of operators: sums over all shapes.
-- @expand operator_roofline_by_name keys="name" noun="operator"
-- @expand roofline_by_class keys="family" noun="family"
--
-- The roofline by {noun}: time, rates, and the share of the roofline that is reached.
--
-- roofline_pct is the time at the roofline as percent of the device time of the rows that have one,
-- so shapes count by their time. modelled_pct is the share of the device time for which it is
-- known. Work without figures is included in device_ns only.
--
-- Source: operator_roofline.
-- Example: SELECT {keys}, calls, device_ns, roofline_pct, lost_ns FROM {view}
--   ORDER BY device_ns DESC LIMIT 5
-- Parts: device_ns BY trace_id, device OF roofline_coverage.device_ns
-- Range: sum device_ns
-- Range: any roofline_pct, lost_ns; calls can be above it (operator_roofline.over).
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column device BIGINT id Device; NULL where none was written.
-- @column {keys} VARCHAR text The {noun}, as in operator_roofline.
-- @column calls BIGINT count Number of calls.
-- @column device_ns BIGINT ns Their device time.
-- @column device_pct DOUBLE pct device_ns as percent of the work of the device.
-- @column total_flop DOUBLE number Operations of all calls that have figures; NULL without.
-- @column total_bytes DOUBLE bytes Bytes of all calls that have figures; NULL without.
-- @column flop_per_byte DOUBLE number total_flop by total_bytes; NULL if not known.
-- @column tflop_s DOUBLE TFLOP/s total_flop by the time of those calls; NULL if not known.
-- @column gb_s DOUBLE GB/s total_bytes by the time of those calls; NULL if not known.
-- @column roofline_ns DOUBLE ns Time at the roofline of the calls that have one; NULL without.
-- @column roofline_pct DOUBLE pct roofline_ns as percent of the time of those calls.
-- @column lost_ns DOUBLE ns Time of those calls less roofline_ns; NULL without.
-- @column modelled_pct DOUBLE pct Time of the calls with a roofline as percent of device_ns.
SELECT
    trace_id, rank, device, {keys},
    sum(calls) AS calls,
    sum(device_ns) AS device_ns,
    100.0 * sum(device_ns)
        / nullif(sum(sum(device_ns)) OVER (PARTITION BY trace_id, device), 0) AS device_pct,
    sum(total_flop) AS total_flop,
    sum(total_bytes) AS total_bytes,
    sum(total_flop) / nullif(sum(total_bytes) FILTER (WHERE total_flop IS NOT NULL), 0)
        AS flop_per_byte,
    sum(total_flop) / nullif(sum(device_ns) FILTER (WHERE total_flop IS NOT NULL), 0) / 1000
        AS tflop_s,
    sum(total_bytes) / nullif(sum(device_ns) FILTER (WHERE total_bytes IS NOT NULL), 0) AS gb_s,
    sum(roofline_ns) AS roofline_ns,
    100.0 * sum(roofline_ns) / nullif(sum(device_ns) FILTER (WHERE roofline_ns IS NOT NULL), 0)
        AS roofline_pct,
    sum(lost_ns) AS lost_ns,
    100.0 * coalesce(sum(device_ns) FILTER (WHERE roofline_ns IS NOT NULL), 0)
        / nullif(sum(device_ns), 0) AS modelled_pct
FROM operator_roofline
GROUP BY trace_id, rank, device, {keys}
