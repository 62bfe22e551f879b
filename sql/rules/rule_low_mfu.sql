-- Low MFU: steps in which the device computes far less than it could.
--
-- The numerator is the time that the products, convolutions and attention of the steps would take
-- at the peak of their type. Without recomputation it gives the model FLOPs utilization (MFU);
-- where frames of Python do not show recomputation it gives the hardware FLOPs utilization (HFU),
-- which is not lower. There is one row for each device. It is not measurable where operations are
-- known for less than rule_low_mfu_modelled_pct of the device time. There is no finding where the
-- bandwidth of the memory is used to rule_low_mfu_bandwidth_pct or more, as in decoding, or where
-- products take less than rule_low_mfu_products_pct of the device time.
-- Source: step_mfu; PaLM (arXiv:2204.02311), appendix B.
-- @scope trace
-- @finding below 35 pct, medium below 20: share of the peak that the steps reach
-- @setting rule_low_mfu_modelled_pct 80 pct Share of device time with known operations from which
--     rule_low_mfu measures.
-- @setting rule_low_mfu_bandwidth_pct 60 pct Share of the bandwidth of memory from which
--     rule_low_mfu has no finding.
-- @setting rule_low_mfu_products_pct 30 pct Share of device time in products, convolutions and
--     attention below which rule_low_mfu has no finding.
-- @numerator time that the products would take at the peak, ns
-- @denominator step time, ns
-- @unmeasured The utilization of the peak could not be measured.
-- @message Device {device} reaches {value} % of its peak for {peak_dtype} ({measure}): the products
--     need {numerator:ns} of {denominator:ns} in the steps, in which the device worked for
--     {busy_pct:1} % of the time.
-- @advice Where the device is idle, see gpu_idle_causes; where it works, see lost_time, which lists
--     the operators that lose most.
-- @evidence SELECT step, step_ns, device_busy_ns, matrix_flop, peak_dtype, peak_tflop_s, mfu_pct,
--     hfu_pct, mbu_pct, modelled_pct, CAST({numerator} AS BIGINT) AS numerator, CAST({denominator}
--     AS BIGINT) AS denominator FROM step_mfu WHERE trace_id = {trace_id} AND (device IS NOT
--     DISTINCT FROM {device}) ORDER BY step
WITH products AS (
    SELECT
        trace_id, device,
        100.0 * sum(CASE WHEN family IN ('gemm', 'conv', 'attention', 'moe') THEN device_ns END)
            / nullif(sum(CASE WHEN coverage <> 'communication' THEN device_ns END), 0)
            AS products_pct
    FROM operator_roofline
    GROUP BY trace_id, device
),
summed AS (
    SELECT
        trace_id, device,
        max(peak_dtype) AS peak_dtype,
        sum(matrix_flop) AS matrix_flop,
        sum(step_ns) AS steps_ns,
        sum(device_busy_ns) AS busy_ns,
        sum(coalesce(mfu_pct, hfu_pct) * step_ns) / sum(step_ns) AS used_pct,
        count(mfu_pct) = count(*) AS is_model,
        count(coalesce(mfu_pct, hfu_pct)) = count(*) AS is_known,
        sum(modelled_pct * device_busy_ns) / sum(device_busy_ns) AS modelled_pct,
        sum(mbu_pct * step_ns) / sum(step_ns) AS mbu_pct
    FROM step_mfu
    WHERE device_busy_ns > 0
    GROUP BY trace_id, device
)
SELECT
    t.trace_id, t.rank, s.device, s.peak_dtype,
    CASE WHEN s.is_model THEN 'MFU' ELSE 'HFU' END AS measure,
    100.0 * s.busy_ns / s.steps_ns AS busy_pct,
    CAST(round(s.used_pct * s.steps_ns / 100) AS BIGINT) AS numerator,
    CAST(s.steps_ns AS BIGINT) AS denominator,
    CASE
        WHEN s.mbu_pct >= setting('rule_low_mfu_bandwidth_pct') THEN false
        WHEN coalesce(p.products_pct, 0) < setting('rule_low_mfu_products_pct') THEN false
    END AS is_finding,
    CASE
        WHEN s.trace_id IS NULL
            THEN coalesce(t.no_device_reason, 'No device work belongs to a step.')
        WHEN d.reason IS NOT NULL THEN concat('The peaks are not known: ', d.reason, '.')
        WHEN coalesce(s.matrix_flop, 0) = 0 THEN concat(
            'No products, convolutions or attention have figures',
            CASE
                WHEN t.format = 'kineto' THEN '; use record_shapes=True.'
                ELSE ' (roofline_coverage says why).'
            END)
        WHEN NOT s.is_known THEN 'The device has no peak for one of the types.'
        WHEN coalesce(s.modelled_pct, 0) < setting('rule_low_mfu_modelled_pct')
            THEN concat(
                'Operations are known for ', round(coalesce(s.modelled_pct, 0), 1),
                ' % of the device time only (roofline_coverage has the reasons).')
        WHEN s.used_pct > 100 THEN 'The figures are above the peak: see rule_roofline_check.'
        ELSE coalesce(v.too_little_reason, t.too_little_reason)
    END AS reason
FROM _rule_traces t
LEFT JOIN summed s ON s.trace_id = t.trace_id
LEFT JOIN products p ON p.trace_id = s.trace_id AND (p.device IS NOT DISTINCT FROM s.device)
LEFT JOIN device_roofline d ON d.trace_id = s.trace_id AND (d.device IS NOT DISTINCT FROM s.device)
LEFT JOIN _rule_devices v ON v.trace_id = s.trace_id AND (v.device IS NOT DISTINCT FROM s.device)
