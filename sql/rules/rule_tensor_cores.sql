-- Tensor cores: matrix products, convolutions and attention that run without them.
--
-- Numerator: time of kernels that use tensor or matrix cores (matrix_unit in name_rules). Denominator: these and all other kernels of matrix
-- products, convolutions and attention (matrix_work in name_rules). Kernels whose names leave open what they use (Triton templates, some attention
-- kernels) are in neither; if they take more time than the rest, the rule is not measurable. One row per device. A finding below
-- rule_tensor_cores_pct (50) percent if the denominator is at least rule_tensor_cores_share_pct (10) percent of the device's kernel time; high below
-- rule_tensor_cores_high_pct (10) percent. Not measurable without device work, on NVIDIA devices older than compute capability 7.0, and without such
-- kernels.
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
WITH names AS (
    SELECT name, classify('matrix_unit', name) IS NOT NULL AS uses_unit, classify('matrix_work', name) AS work
    FROM (SELECT DISTINCT name FROM kernels WHERE kind = 'kernel')
),
times AS (
    SELECT
        k.trace_id, k.device,
        sum(k.dur_ns) AS kernel_ns,
        coalesce(sum(k.dur_ns) FILTER (WHERE n.uses_unit), 0) AS unit_ns,
        coalesce(sum(k.dur_ns) FILTER (WHERE NOT n.uses_unit AND n.work = 'matrix'), 0) AS other_ns,
        coalesce(sum(k.dur_ns) FILTER (WHERE NOT n.uses_unit AND n.work = 'unclear'), 0) AS unclear_ns,
        first_value(CASE WHEN NOT n.uses_unit AND n.work = 'matrix' THEN k.name END
            ORDER BY CASE WHEN NOT n.uses_unit AND n.work = 'matrix' THEN k.dur_ns ELSE -1 END DESC, k.name) AS longest_name
    FROM kernels k
    JOIN names n ON n.name = k.name
    WHERE k.kind = 'kernel' AND k.dur_ns >= 0
    GROUP BY k.trace_id, k.device
),
measured AS (
    SELECT
        t.trace_id, t.rank, x.device, x.unit_ns AS numerator, x.unit_ns + x.other_ns AS denominator, x.kernel_ns, x.longest_name,
        CASE
            WHEN x.trace_id IS NULL THEN coalesce(t.no_device_reason, 'The trace has copies or fills, but no kernels.')
            WHEN d.compute_major < 7 THEN concat('Device ', d.name, ' (compute capability ', d.compute_major, '.', d.compute_minor, ') has no tensor cores.')
            WHEN x.unclear_ns > x.unit_ns + x.other_ns
                THEN concat('Kernels whose names leave open whether they use tensor cores take ', format_ns(x.unclear_ns), ', more than those that say it; profile them with Nsight Compute.')
            WHEN x.unit_ns + x.other_ns = 0 THEN 'The trace has no kernels of matrix products, convolutions or attention.'
        END AS reason
    FROM _rule_traces t
    LEFT JOIN times x ON x.trace_id = t.trace_id
    LEFT JOIN devices d ON d.trace_id = x.trace_id AND d.device = x.device
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
            WHEN 100.0 * numerator < setting('rule_tensor_cores_high_pct') * denominator THEN 'high'
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
            round(100.0 * denominator / kernel_ns, 1), ' % of its kernel time', CASE WHEN numerator < denominator THEN concat('; the longest without is ', left(longest_name, 60)) ELSE '' END, '.')
    END AS message,
    CASE WHEN status = 'finding' THEN
        'Use automatic mixed precision (torch.autocast with bfloat16 or float16), or TF32 for float32 '
        || '(torch.set_float32_matmul_precision("high")); make sizes multiples of 8.'
    END AS advice,
    concat(
        'SELECT name, calls, total_ns, uses_matrix_unit FROM kernels_by_name WHERE (uses_matrix_unit OR classify(''matrix_work'', name) IS NOT ',
        'NULL) AND trace_id = ''', trace_id, ''' ORDER BY total_ns DESC') AS evidence,
    reason
FROM judged
