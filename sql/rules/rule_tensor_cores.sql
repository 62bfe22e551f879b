-- Tensor cores: matrix products, convolutions and attention that run without them.
--
-- Kernels are judged by matrix_unit and class of kernel_classes. Unclear ones (matrix products
-- whose names, operator, types and device do not decide it, and unclassified kernels) are in
-- neither part; the message has the share that results if all of them use the unit. Severities
-- count only as far as they hold whatever the unclear kernels use, else it is low. If these could
-- turn a good share into a bad one, the rule is not measurable. Neither is it on NVIDIA devices
-- older than compute capability 7.0, and without such kernels. There is one row for each device.
-- Source: the tensor core rule of Perfessor, by time instead of by number of names, and of kernels
--     instead of operators.
-- @scope trace
-- @finding below 50 pct: share of matrix work on tensor cores
-- @setting rule_tensor_cores_high_pct 10 pct Share below which that is high.
-- @setting rule_tensor_cores_share_pct 10 pct Share of kernel time in matrix work below which
--     rule_tensor_cores has no finding.
-- @numerator kernels that use tensor cores, ns
-- @denominator kernels of matrix products, convolutions and attention, ns
-- @unmeasured Use of tensor cores could not be measured.
-- @message Tensor cores run {value} % of the time of matrix products, convolutions and attention on
--     device {device}: {numerator:ns} of {denominator:ns}, which are {share_pct:1} % of its kernel
--     time[; of {unclear_ns:ns} more it is unclear, so the share is between {least_pct:1} and
--     {most_pct:1} %][; the longest without is {longest}].
-- @advice Use automatic mixed precision (torch.autocast with bfloat16 or float16); make sizes
--     multiples of 8.
-- @evidence SELECT name, class, matrix_unit, matrix_unit_evidence, count(*) AS calls, sum(dur_ns)
--     AS total_ns, sum(CASE matrix_unit WHEN 'yes' THEN sum(dur_ns) ELSE 0 END) OVER () AS
--     numerator, sum(CASE matrix_unit WHEN 'unclear' THEN 0 ELSE sum(dur_ns) END) OVER () AS
--     denominator FROM kernel_classes WHERE (class IN ('gemm', 'conv', 'attention') OR matrix_unit
--     <> 'no') AND kind = 'kernel' AND dur_ns >= 0 AND trace_id = {trace_id} AND (device IS NOT
--     DISTINCT FROM {device}) GROUP BY name, class, matrix_unit, matrix_unit_evidence ORDER BY
--     total_ns DESC, name
WITH work AS (
    SELECT *, matrix_unit = 'no' AND class IN ('gemm', 'conv', 'attention') AS is_without
    FROM kernel_classes
    WHERE kind = 'kernel' AND dur_ns >= 0
),
times AS (
    SELECT
        trace_id, device, sum(dur_ns) AS kernel_ns,
        coalesce(sum(dur_ns) FILTER (WHERE matrix_unit = 'yes'), 0) AS unit_ns,
        coalesce(sum(dur_ns) FILTER (WHERE matrix_unit = 'yes' OR is_without), 0) AS known_ns,
        coalesce(sum(dur_ns) FILTER (WHERE matrix_unit = 'unclear'), 0) AS unclear_ns,
        first_value(CASE WHEN is_without THEN name END
            ORDER BY CASE WHEN is_without THEN dur_ns ELSE -1 END DESC, name) AS longest_name
    FROM work
    GROUP BY trace_id, device
),
-- The share if none of the unclear kernels use the unit, and the share if all of them do.
bounds AS (
    SELECT
        *, 100.0 * unit_ns / nullif(known_ns + unclear_ns, 0) AS least_pct,
        100.0 * (unit_ns + unclear_ns) / nullif(known_ns + unclear_ns, 0) AS most_pct
    FROM times
)
SELECT
    t.trace_id, t.rank, x.device, x.unit_ns AS numerator, x.known_ns AS denominator,
    100.0 * x.known_ns / x.kernel_ns AS share_pct,
    nullif(x.unclear_ns, 0) AS unclear_ns, x.least_pct, x.most_pct,
    CASE WHEN x.unit_ns < x.known_ns THEN left(short_name(x.longest_name), 60) END AS longest,
    CASE
        WHEN 100.0 * x.known_ns < setting('rule_tensor_cores_share_pct') * x.kernel_ns THEN false
    END AS is_finding,
    CASE
        WHEN x.most_pct >= setting('rule_tensor_cores_pct') THEN 'low'
        WHEN x.most_pct < setting('rule_tensor_cores_high_pct') THEN 'high'
    END AS severity,
    CASE
        WHEN t.format = 'nsys' AND d.compute_major >= 8 THEN 'Compute in bfloat16 or float16, or '
            || 'in TF32 for float32; make sizes multiples of 8.'
        WHEN t.format = 'nsys' AND d.compute_major >= 7 THEN 'Compute in float16; make sizes '
            || 'multiples of 8. The device has no TF32.'
        WHEN t.format <> 'kineto' THEN 'Compute in bfloat16 or float16; make sizes multiples of 8.'
        WHEN d.compute_major >= 8 THEN 'Use automatic mixed precision (torch.autocast with '
            || 'bfloat16 or float16), or TF32 for float32 '
            || '(torch.set_float32_matmul_precision("high")); make sizes multiples of 8.'
        WHEN d.compute_major >= 7 THEN 'Use automatic mixed precision (torch.autocast with '
            || 'float16); make sizes multiples of 8. The device has no TF32.'
    END AS advice,
    CASE
        WHEN x.trace_id IS NULL
            THEN coalesce(t.no_device_reason, 'The trace has copies or fills, but no kernels.')
        WHEN d.compute_major < 7 THEN concat(
            'Device ', coalesce(nullif(d.name, ''), CAST(x.device AS VARCHAR)),
            ' (compute capability ', d.compute_major, '.', coalesce(d.compute_minor, 0),
            ') has no tensor cores.')
        WHEN x.known_ns + x.unclear_ns = 0
            THEN 'The trace has no kernels of matrix products, convolutions or attention.'
        WHEN x.known_ns = 0 OR x.unclear_ns > x.known_ns
            OR 100.0 * x.unit_ns >= setting('rule_tensor_cores_pct') * x.known_ns
                AND 100.0 * x.unit_ns
                    < setting('rule_tensor_cores_pct') * (x.known_ns + x.unclear_ns)
            THEN concat(
                'Of kernels that take ', format_ns(x.unclear_ns), ' it is unclear whether they ',
                'use tensor cores; the share is between ', round(x.least_pct, 1), ' and ',
                round(x.most_pct, 1), ' %.',
                CASE
                    WHEN t.format = 'kineto' THEN ' Record shapes (record_shapes=True), which tell '
                        || 'types, or profile them with Nsight Compute.'
                    WHEN t.format = 'nsys' THEN ' Profile them with Nsight Compute.'
                END)
        ELSE coalesce(v.too_little_reason, t.too_little_reason)
    END AS reason
FROM _rule_traces t
LEFT JOIN bounds x ON x.trace_id = t.trace_id
LEFT JOIN _rule_devices v ON v.trace_id = x.trace_id AND (v.device IS NOT DISTINCT FROM x.device)
LEFT JOIN _device_properties d ON d.trace_id = x.trace_id AND d.device = x.device
