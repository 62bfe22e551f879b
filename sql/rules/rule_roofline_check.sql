-- Work above the roofline: operators that are faster than their device could be, as far as figures
-- and peaks are right.
--
-- Operators above 105 % of their roofline count if they take more than 1 % of the work of the
-- device and their data do not fit its last cache, which explains a rate above that of the memory.
-- The others are a hint that the device is another one, that an input is used in part, or that a
-- formula is too high: their roofline_pct is not to be trusted. operator_roofline.over states the
-- likely reason. There is one row for each device.
-- Source: operator_roofline.
-- @scope trace
-- @finding low above 1 pct, medium above 25: share of device time above the roofline
-- @setting rule_roofline_check_over_pct 105 pct Share of the roofline above which an operator is
--     too fast.
-- @setting rule_roofline_check_device_pct 1 pct Share of device time below which
--     rule_roofline_check leaves operators out.
-- @subject {name}
-- @numerator device time of operators above their roofline, ns
-- @denominator device time, ns
-- @unmeasured Whether operators are above their roofline could not be measured.
-- @message Operators that are faster than device {device} should allow take {value} % of its time:
--     {numerator:ns} of {denominator:ns}[, most of it {name} at {most_pct:0} % of its roofline:
--     {over}].
-- @advice Compare device_roofline with the device, set roofline_device or add a row to
--     device_peaks, and look at the operators in operator_roofline.
-- @evidence SELECT name, input_shapes, calls, device_ns, device_pct, roofline_pct, bound, over,
--     quality, CAST({numerator} AS BIGINT) AS numerator, CAST({denominator} AS BIGINT) AS
--     denominator FROM operator_roofline WHERE roofline_pct > 100 AND trace_id = {trace_id} AND
--     (device IS NOT DISTINCT FROM {device}) ORDER BY device_ns DESC
WITH rows AS (
    SELECT
        trace_id, device, name, device_ns, roofline_pct, over,
        coalesce(
            roofline_pct > setting('rule_roofline_check_over_pct')
                AND device_pct > setting('rule_roofline_check_device_pct')
                AND over <> 'the data fit the last cache of the device', false) AS is_over
    FROM operator_roofline
),
sums AS (
    SELECT
        trace_id, device,
        sum(device_ns) AS device_ns,
        coalesce(sum(device_ns) FILTER (WHERE is_over), 0) AS over_ns,
        count(roofline_pct) AS known,
        first_value(name ORDER BY is_over DESC, device_ns DESC, name) AS name,
        first_value(roofline_pct ORDER BY is_over DESC, device_ns DESC, name) AS most_pct,
        first_value(over ORDER BY is_over DESC, device_ns DESC, name) AS over
    FROM rows
    GROUP BY trace_id, device
)
SELECT
    t.trace_id, t.rank, s.device,
    CASE WHEN s.over_ns > 0 THEN s.name END AS name,
    CASE WHEN s.over_ns > 0 THEN s.most_pct END AS most_pct,
    CASE WHEN s.over_ns > 0 THEN s.over END AS over,
    s.over_ns AS numerator, s.device_ns AS denominator,
    CASE
        WHEN t.no_device_reason IS NOT NULL THEN t.no_device_reason
        WHEN s.known = 0 THEN 'No operator has a roofline (roofline_coverage and device_roofline '
            || 'say why).'
        ELSE t.too_little_reason
    END AS reason
FROM _rule_traces t
LEFT JOIN sums s ON s.trace_id = t.trace_id
