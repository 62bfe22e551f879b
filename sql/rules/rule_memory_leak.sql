-- Memory leak: memory that grows from step to step.
--
-- value is the slope of the line through what is allocated at the end of each step, in bytes per step, as memory_leak has it; that view's settings
-- hold the limits (memory_leak_bytes_per_step, memory_leak_min_steps, memory_leak_min_r2). A finding if its verdict is leak: high on a device, medium
-- on the host. One row per device with memory records. Not measurable without these, with fewer steps than memory_leak_min_steps, or where the
-- profiler wrote neither totals nor frees.
--
-- Source: the leak rule of PRISM's training profiler, with a test of the fit.
-- Example: SELECT status, severity, value, message FROM rule_memory_leak
--
-- @column rule VARCHAR text memory_leak.
-- @column status VARCHAR text finding, ok or not_measurable.
-- @column severity VARCHAR text high, medium, low or info; NULL unless status is finding.
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column device BIGINT id Device number; -1 is the host; NULL if not recorded.
-- @column step BIGINT id NULL: the rule is about the whole trace.
-- @column subject VARCHAR text Kind of device: cpu, cuda, …; NULL without memory records.
-- @column value DOUBLE number Slope in bytes per step; NULL if not measurable.
-- @column unit VARCHAR text Unit of value and threshold: bytes.
-- @column threshold DOUBLE number The setting memory_leak_bytes_per_step.
-- @column numerator BIGINT number NULL: a slope is no quotient.
-- @column denominator BIGINT number NULL: a slope is no quotient.
-- @column numerator_name VARCHAR text What numerator is; NULL if there is none.
-- @column denominator_name VARCHAR text What denominator is; NULL if there is none.
-- @column message VARCHAR text The finding in a sentence.
-- @column advice VARCHAR text What to do; NULL unless status is finding.
-- @column evidence VARCHAR text A query that shows the rows behind it.
-- @column reason VARCHAR text Why it is not measurable and how to record what is missing; NULL otherwise.
WITH measured AS (
    SELECT
        t.trace_id, t.rank, l.device_type, l.device, l.steps, l.first_bytes, l.last_bytes, l.growth_bytes, l.slope_bytes, l.r2, l.verdict,
        CASE
            WHEN t.format = 'mllm_perf' THEN 'A perf.json recording has no steps; mllm_alive_blobs lists what was not freed.'
            WHEN l.trace_id IS NULL THEN 'Memory was not recorded; use profile_memory=True.'
            WHEN l.verdict = 'not measurable' AND l.steps < setting_int('memory_leak_min_steps')
                THEN concat('Memory is known at the end of ', l.steps, CASE l.steps WHEN 1 THEN ' step; ' ELSE ' steps; ' END, setting_int('memory_leak_min_steps'),
                    ' are needed: record more with schedule(active=…) and profile_memory=True, or lower the setting memory_leak_min_steps.')
            WHEN l.verdict = 'not measurable' THEN 'The profiler wrote allocations without totals or frees; use PyTorch 1.10 or later.'
        END AS reason
    FROM _rule_traces t
    LEFT JOIN memory_leak l ON l.trace_id = t.trace_id
),
judged AS (
    SELECT
        *,
        CASE
            WHEN reason IS NOT NULL THEN 'not_measurable'
            WHEN verdict = 'leak' THEN 'finding'
            ELSE 'ok'
        END AS status
    FROM measured
)
SELECT
    'memory_leak' AS rule, status,
    CASE WHEN status = 'finding' THEN
        CASE
            WHEN device >= 0 THEN 'high'
            ELSE 'medium'
        END
    END AS severity,
    trace_id, rank, device, CAST(NULL AS BIGINT) AS step, device_type AS subject,
    CASE WHEN status <> 'not_measurable' THEN slope_bytes END AS value,
    'bytes' AS unit,
    setting('memory_leak_bytes_per_step') AS threshold,
    CAST(NULL AS BIGINT) AS numerator,
    CAST(NULL AS BIGINT) AS denominator,
    CAST(NULL AS VARCHAR) AS numerator_name,
    CAST(NULL AS VARCHAR) AS denominator_name,
    CASE WHEN status = 'not_measurable' THEN 'Whether memory leaks could not be measured.' ELSE
        concat(
            'Memory allocated at the end of a step on ', coalesce(device_type, 'the device'), CASE WHEN device >= 0 THEN concat(' ', device) ELSE '' END,
            CASE WHEN slope_bytes < 0 THEN ' shrinks by ' ELSE ' grows by ' END, format_bytes(CAST(abs(slope_bytes) AS BIGINT)), ' a step over ', steps, ' steps (from ', format_bytes(first_bytes), ' to ', format_bytes(last_bytes),
            CASE WHEN r2 IS NULL THEN '' ELSE concat(', r2 ', round(r2, 2)) END, ').')
    END AS message,
    CASE WHEN status = 'finding' THEN
        'Look for tensors that outlive their step: losses collected without .item() or .detach(), lists, caches, closures, retained graphs; '
        || 'allocations_across_steps lists them with the operator and module that made them.'
    END AS advice,
    concat(
        'SELECT step, device_type, device, max(allocated_bytes) AS most_bytes, last_value(allocated_bytes ORDER BY record) AS end_bytes FROM ',
        'memory_curve WHERE step IS NOT NULL AND trace_id = ''', trace_id, ''' GROUP BY step, device_type, device ORDER BY device_type, device, step') AS evidence,
    reason
FROM judged
