-- Low utilization of the peak: steps whose products take little of the device's arithmetic.
--
-- The numerator is the time that products, convolutions and attention of the steps would take at
-- the peak of their type: mfu_pct of step_mfu where recomputation is known, else hfu_pct. There is
-- one row for each device. It is not measurable where the operations of less than 80 % of the
-- device time are known (setting rule_low_mfu_modelled_pct), where the peaks are not known, and
-- for work without products.
-- Source: step_mfu; PaLM (arXiv:2204.02311), appendix B.
-- @scope trace
-- @finding low below 35 pct, medium below 20: share of the peak that the steps reach
-- @setting rule_low_mfu_modelled_pct 80 pct Share of device time with known operations from which
--     rule_low_mfu judges.
-- @numerator products at the peak of their type, ns
-- @denominator steps, ns
-- @unmeasured The utilization of the peak could not be measured.
-- @message Products of the steps take {value} % of what device {device} could compute ({kind}, peak
--     of {dtype}): {numerator:ns} of {denominator:ns} at the peak.
-- @advice Look in lost_time for the operators that lose most, and in gpu_idle_causes for what the
--     device waits for.
-- @evidence SELECT step, step_ns, device_busy_ns, matrix_flop, tflop_s, mfu_pct, hfu_pct,
--     modelled_pct, peak_dtype, peak_tflop_s, reason, CAST({numerator} AS BIGINT) AS numerator,
--     CAST({denominator} AS BIGINT) AS denominator FROM step_mfu WHERE trace_id = {trace_id} AND
--     (device IS NOT DISTINCT FROM {device}) ORDER BY step
WITH judged AS (
    SELECT
        trace_id, device,
        sum(step_ns) AS steps_ns,
        sum(coalesce(mfu_pct, hfu_pct) * step_ns) / 100 AS peak_ns,
        count(coalesce(mfu_pct, hfu_pct)) AS known,
        count(*) AS steps,
        count(mfu_pct) AS without_recomputation,
        sum(matrix_flop) AS matrix_flop,
        sum(modelled_pct * device_busy_ns) / nullif(sum(device_busy_ns), 0) AS modelled_pct,
        max(hfu_pct) AS most_pct,
        max(peak_dtype) AS dtype,
        max(reason) AS reason
    FROM step_mfu
    GROUP BY trace_id, device
)
SELECT
    t.trace_id, t.rank, j.device, j.dtype,
    CASE WHEN j.without_recomputation = j.steps THEN 'MFU' ELSE 'HFU' END AS kind,
    CASE WHEN j.known = j.steps THEN CAST(round(j.peak_ns) AS BIGINT) END AS numerator,
    j.steps_ns AS denominator,
    CASE
        WHEN t.no_device_reason IS NOT NULL THEN t.no_device_reason
        WHEN j.trace_id IS NULL THEN 'No device work belongs to a step.'
        WHEN j.matrix_flop = 0
            THEN 'No product has figures: use record_shapes=True, or the steps have no products.'
        WHEN j.known < j.steps
            THEN concat('The peaks are not known: ', coalesce(j.reason, 'no reason recorded'), '.')
        WHEN j.most_pct > 100
            THEN 'A step is above the peak, so the device is not the one that it was taken for.'
        WHEN coalesce(j.modelled_pct, 0) < setting('rule_low_mfu_modelled_pct')
            THEN concat(
                'Operations are known for ', round(coalesce(j.modelled_pct, 0), 1),
                ' % of the device time only (roofline_coverage says why).')
        ELSE t.too_little_reason
    END AS reason
FROM _rule_traces t
LEFT JOIN judged j ON j.trace_id = t.trace_id
