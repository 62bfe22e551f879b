-- Tensor cores: matrix products, convolutions and attention that run without them.
--
-- Numerator: time of kernels that run on tensor or matrix cores (kernel_classes.matrix_unit is yes). Denominator: time of these and of other matrix
-- products, convolutions and attention (classes gemm, conv and attention, matrix_unit is no). Kernels of which it is unclear (matrix products whose names
-- do not say it and whose operator, types and device do not decide it, and unclassified kernels) are in neither; the message has the share that results
-- if all of them use the unit. One row per device. A finding below rule_tensor_cores_pct (50) percent if the denominator is at least
-- rule_tensor_cores_share_pct (10) percent of the device's kernel time; medium, high below rule_tensor_cores_high_pct (10) percent, but only as far
-- as that holds whatever the unclear kernels use, else low. If the unclear kernels could turn a good share into a bad one, the rule is not measurable.
-- Not measurable without device work, on NVIDIA devices older than compute capability 7.0, without such kernels, and with less work than
-- rule_min_device_work and rule_min_duration_ns say.
--
-- Source: the tensor core rule of Perfessor, by time instead of by number of names, and of kernels instead of operators.
-- Example: SELECT status, severity, value, message FROM rule_tensor_cores
--
-- @column rule VARCHAR text tensor_cores.
-- @column status VARCHAR text finding, ok or not_measurable.
-- @column severity VARCHAR text high, medium, low or info; NULL unless status is finding.
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column device BIGINT id Device; NULL where none was written, or if not measurable.
-- @column step BIGINT id NULL: the rule is about the whole trace.
-- @column subject VARCHAR text NULL: the rule is about the whole trace.
-- @column value DOUBLE number 100 * numerator / denominator; NULL if not measurable.
-- @column unit VARCHAR text Unit of value and threshold: pct.
-- @column threshold DOUBLE number The setting rule_tensor_cores_pct: lower values are findings.
-- @column numerator BIGINT number kernels that use tensor cores, ns; NULL if not measurable.
-- @column denominator BIGINT number kernels of matrix products, convolutions and attention, ns; NULL if not measurable.
-- @column numerator_name VARCHAR text What numerator is; NULL if there is none.
-- @column denominator_name VARCHAR text What denominator is; NULL if there is none.
-- @column message VARCHAR text The finding in a sentence.
-- @column advice VARCHAR text What to do; NULL unless status is finding.
-- @column evidence VARCHAR text A query that shows the rows behind it.
-- @column reason VARCHAR text Why it is not measurable and how to record what is missing; NULL otherwise.
WITH times AS (
    SELECT
        trace_id, device,
        sum(dur_ns) AS kernel_ns,
        coalesce(sum(dur_ns) FILTER (WHERE matrix_unit = 'yes'), 0) AS unit_ns,
        coalesce(sum(dur_ns) FILTER (WHERE matrix_unit = 'no' AND class IN ('gemm', 'conv', 'attention')), 0) AS other_ns,
        coalesce(sum(dur_ns) FILTER (WHERE matrix_unit = 'unclear'), 0) AS unclear_ns,
        first_value(CASE WHEN matrix_unit = 'no' AND class IN ('gemm', 'conv', 'attention') THEN name END
            ORDER BY CASE WHEN matrix_unit = 'no' AND class IN ('gemm', 'conv', 'attention') THEN dur_ns ELSE -1 END DESC, name) AS longest_name
    FROM kernel_classes
    WHERE kind = 'kernel' AND dur_ns >= 0
    GROUP BY trace_id, device
),
measured AS (
    SELECT
        t.trace_id, t.rank, x.device, x.unit_ns AS numerator, x.unit_ns + x.other_ns AS denominator, x.unclear_ns, x.kernel_ns, x.longest_name, d.capability,
        -- The share if none and if all of the unclear kernels use the unit.
        100.0 * x.unit_ns / nullif(x.unit_ns + x.other_ns + x.unclear_ns, 0) AS least_pct,
        100.0 * (x.unit_ns + x.unclear_ns) / nullif(x.unit_ns + x.other_ns + x.unclear_ns, 0) AS most_pct,
        CASE
            WHEN x.trace_id IS NULL THEN coalesce(t.no_device_reason, 'The trace has copies or fills, but no kernels.')
            WHEN d.compute_major < 7 THEN concat('Device ', coalesce(nullif(d.name, ''), CAST(x.device AS VARCHAR)), ' (compute capability ', d.compute_major, '.', coalesce(d.compute_minor, 0), ') has no tensor cores.')
            WHEN x.unit_ns + x.other_ns + x.unclear_ns = 0 THEN 'The trace has no kernels of matrix products, convolutions or attention.'
            WHEN x.unit_ns + x.other_ns = 0 OR x.unclear_ns > x.unit_ns + x.other_ns
                OR 100.0 * x.unit_ns >= setting('rule_tensor_cores_pct') * (x.unit_ns + x.other_ns)
                    AND 100.0 * x.unit_ns < setting('rule_tensor_cores_pct') * (x.unit_ns + x.other_ns + x.unclear_ns)
                THEN concat(
                    'Of kernels that take ', format_ns(x.unclear_ns), ' it is unclear whether they use tensor cores; the share is between ',
                    round(100.0 * x.unit_ns / (x.unit_ns + x.other_ns + x.unclear_ns), 1), ' and ',
                    round(100.0 * (x.unit_ns + x.unclear_ns) / (x.unit_ns + x.other_ns + x.unclear_ns), 1),
                    ' %. Record shapes (record_shapes=True), which tell types, or profile them with Nsight Compute.')
            ELSE coalesce(v.too_little_reason, t.too_little_reason)
        END AS reason
    FROM _rule_traces t
    LEFT JOIN times x ON x.trace_id = t.trace_id
    LEFT JOIN _rule_devices v ON v.trace_id = x.trace_id AND (v.device IS NOT DISTINCT FROM x.device)
    LEFT JOIN (SELECT *, 10 * compute_major + compute_minor AS capability FROM _device_properties) d ON d.trace_id = x.trace_id AND d.device = x.device
),
judged AS (
    SELECT
        *,
        CASE
            WHEN reason IS NOT NULL THEN 'not_measurable'
            WHEN 100.0 * numerator < setting('rule_tensor_cores_pct') * denominator AND
                100.0 * denominator >= setting('rule_tensor_cores_share_pct') * kernel_ns THEN 'finding'
            ELSE 'ok'
        END AS status
    FROM measured
)
SELECT
    'tensor_cores' AS rule, status,
    CASE WHEN status = 'finding' THEN
        CASE
            WHEN most_pct >= setting('rule_tensor_cores_pct') THEN 'low'
            WHEN most_pct < setting('rule_tensor_cores_high_pct') THEN 'high'
            ELSE 'medium'
        END
    END AS severity,
    trace_id, rank, device, CAST(NULL AS BIGINT) AS step, CAST(NULL AS VARCHAR) AS subject,
    CASE WHEN status <> 'not_measurable' THEN 100.0 * numerator / denominator END AS value,
    'pct' AS unit,
    setting('rule_tensor_cores_pct') AS threshold,
    CASE WHEN status <> 'not_measurable' THEN CAST(numerator AS BIGINT) END AS numerator,
    CASE WHEN status <> 'not_measurable' THEN CAST(denominator AS BIGINT) END AS denominator,
    'kernels that use tensor cores, ns' AS numerator_name,
    'kernels of matrix products, convolutions and attention, ns' AS denominator_name,
    CASE WHEN status = 'not_measurable' THEN 'Use of tensor cores could not be measured.' ELSE
        concat(
            'Tensor cores run ', round(100.0 * numerator / denominator, 1), ' % of the time of matrix products, convolutions and attention on device ',
            coalesce(CAST(device AS VARCHAR), 'without number'), ': ', format_ns(numerator), ' of ', format_ns(denominator), ', which are ',
            round(100.0 * denominator / kernel_ns, 1), ' % of its kernel time',
            CASE WHEN unclear_ns > 0 THEN concat(
                '; of ', format_ns(unclear_ns), ' more it is unclear, so the share is between ', round(least_pct, 1), ' and ', round(most_pct, 1), ' %') ELSE '' END,
            CASE WHEN numerator < denominator THEN concat('; the longest without is ', left(short_name(longest_name), 60)) ELSE '' END, '.')
    END AS message,
    CASE WHEN status = 'finding' THEN
        CASE
            WHEN capability >= 80 THEN 'Use automatic mixed precision (torch.autocast with bfloat16 or float16), or TF32 for float32 '
                || '(torch.set_float32_matmul_precision("high")); make sizes multiples of 8.'
            WHEN capability >= 70 THEN 'Use automatic mixed precision (torch.autocast with float16); make sizes multiples of 8. The device has no TF32.'
            ELSE 'Use automatic mixed precision (torch.autocast with bfloat16 or float16); make sizes multiples of 8.'
        END
    END AS advice,
    concat(
        'SELECT name, class, matrix_unit, matrix_unit_evidence, count(*) AS calls, sum(dur_ns) AS total_ns, sum(CASE matrix_unit WHEN ''yes'' THEN ',
        'sum(dur_ns) ELSE 0 END) OVER () AS numerator, sum(CASE matrix_unit WHEN ''unclear'' THEN 0 ELSE sum(dur_ns) END) OVER () AS denominator ',
        'FROM kernel_classes WHERE (class IN (''gemm'', ''conv'', ''attention'') OR matrix_unit <> ''no'') AND kind = ''kernel'' AND dur_ns >= 0 ',
        'AND trace_id = ''', trace_id, ''' AND (device IS NOT DISTINCT FROM ', coalesce(CAST(device AS VARCHAR), 'NULL'), ') GROUP BY name, class, ',
        'matrix_unit, matrix_unit_evidence ORDER BY total_ns DESC, name') AS evidence,
    reason
FROM judged
