-- Roofline check: calls that are faster than their roofline allows, so that a figure or a peak
-- cannot be right.
--
-- Counted are rows of operator_roofline above rule_roofline_check_over_pct whose data do not fit
-- the last cache of the device, and whose kernels do not save operations as those of Winograd do:
-- figures that are too high, or a device that is not the one whose peaks were taken. over states
-- the likely reason. There is one row for each device.
-- Source: operator_roofline.
-- @scope trace
-- @finding info above 1 pct, low above 20: share of device time above the roofline
-- @setting rule_roofline_check_over_pct 105 pct Share of the roofline above which a row counts.
-- @numerator device time of calls above their roofline, ns
-- @denominator device time, ns
-- @unmeasured Calls could not be compared with their roofline.
-- @message {value} % of the time of device {device} ({matched_device}) is in calls above
--     {over_limit:0} % of their roofline: {numerator:ns} of {denominator:ns}[; most of it in {name}
--     at {roofline_pct:1} %: {over}].
-- @advice Check the device in device_roofline; --set roofline_device=NAME or a row of your own in
--     device_peaks corrects its peaks.
-- @evidence SELECT name, input_shapes, input_types, calls, device_ns, roofline_pct, bound, quality,
--     over, CAST({numerator} AS BIGINT) AS numerator, CAST({denominator} AS BIGINT) AS denominator
--     FROM operator_roofline WHERE trace_id = {trace_id} AND (device IS NOT DISTINCT FROM {device})
--     ORDER BY over IS NULL, device_ns DESC LIMIT 20
WITH rows AS (
    SELECT
        trace_id, device, name, input_shapes, device_ns, roofline_pct, over,
        coalesce(
            roofline_pct > setting('rule_roofline_check_over_pct')
                AND over NOT IN (
                    'the data fit the last cache of the device',
                    'Winograd kernels need fewer operations than the formula counts'
                ), false) AS is_over
    FROM operator_roofline
),
summed AS (
    SELECT
        trace_id, device,
        sum(device_ns) AS all_ns,
        count(roofline_pct) AS known,
        coalesce(sum(CASE WHEN is_over THEN device_ns END), 0) AS over_ns
    FROM rows
    GROUP BY trace_id, device
),
longest AS (
    SELECT
        *, row_number() OVER (
            PARTITION BY trace_id, device ORDER BY device_ns DESC, name, input_shapes) AS number
    FROM rows
    WHERE is_over
)
SELECT
    t.trace_id, t.rank, s.device, d.matched_device,
    setting('rule_roofline_check_over_pct') AS over_limit,
    l.name, l.roofline_pct, l.over,
    CAST(s.over_ns AS BIGINT) AS numerator,
    CAST(s.all_ns AS BIGINT) AS denominator,
    CASE
        WHEN s.trace_id IS NULL
            THEN coalesce(t.no_device_reason, 'No device work has a duration.')
        WHEN d.reason IS NOT NULL THEN concat('The peaks are not known: ', d.reason, '.')
        WHEN s.known = 0
            THEN concat(
                'No operator has figures',
                CASE WHEN t.format = 'kineto' THEN '; use record_shapes=True' END,
                ' (roofline_coverage says why).')
    END AS reason
FROM _rule_traces t
LEFT JOIN summed s ON s.trace_id = t.trace_id
LEFT JOIN longest l
    ON l.trace_id = s.trace_id AND (l.device IS NOT DISTINCT FROM s.device) AND l.number = 1
LEFT JOIN device_roofline d ON d.trace_id = s.trace_id AND (d.device IS NOT DISTINCT FROM s.device)
