-- Runtime overhead: steps that go to runtime and driver calls while the device does nothing.
--
-- Numerator: time within the steps in which a runtime or driver call is under way (launches, allocation, synchronisation) and no kernel, copy, fill
-- or collective runs. Denominator: the length of all steps. Calls beside device work cost nothing and do not count. A finding above
-- rule_runtime_overhead_pct (15) percent, high above rule_runtime_overhead_high_pct (40). The message names the call with the longest time in the
-- trace, synchronisations aside, which cpu_gpu_sync looks at. Not measurable without device work or runtime calls.
--
-- Source: the runtime rule of Perfessor, restricted to what device work does not hide.
-- Example: SELECT status, severity, value, message FROM rule_runtime_overhead
--
-- @column rule VARCHAR text runtime_overhead.
-- @column status VARCHAR text finding, ok or not_measurable.
-- @column severity VARCHAR text high, medium, low or info; NULL unless status is finding.
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column device BIGINT id NULL: the rule is about the whole trace.
-- @column step BIGINT id NULL: the rule is about the whole trace.
-- @column subject VARCHAR text NULL: the rule is about the whole trace.
-- @column value DOUBLE number 100 * numerator / denominator; NULL if not measurable.
-- @column unit VARCHAR text Unit of value and threshold: pct.
-- @column threshold DOUBLE number The setting rule_runtime_overhead_pct.
-- @column numerator BIGINT number runtime and driver calls without device work beside them, ns; NULL if not measurable.
-- @column denominator BIGINT number length of all steps, ns; NULL if not measurable.
-- @column numerator_name VARCHAR text What numerator is; NULL if there is none.
-- @column denominator_name VARCHAR text What denominator is; NULL if there is none.
-- @column message VARCHAR text The finding in a sentence.
-- @column advice VARCHAR text What to do; NULL unless status is finding.
-- @column evidence VARCHAR text A query that shows the rows behind it.
-- @column reason VARCHAR text Why it is not measurable and how to record what is missing; NULL otherwise.
WITH calls AS (
    SELECT trace_id, name, count(*) AS calls, sum(dur_ns) AS call_ns, row_number() OVER (PARTITION BY trace_id ORDER BY sum(dur_ns) DESC, name) AS place
    FROM _launches
    WHERE NOT contains(name, 'Synchronize')
    GROUP BY trace_id, name
),
measured AS (
    SELECT
        t.trace_id, t.rank, s.exposed_runtime_ns AS numerator, s.total_ns AS denominator, coalesce(s.is_marked, true) AS is_marked,
        c.name, c.calls, c.call_ns,
        CASE
            WHEN t.no_device_reason IS NOT NULL THEN t.no_device_reason
            WHEN coalesce(s.runtime_ns, 0) = 0
                THEN 'The steps of the trace have device work and no runtime calls; record ProfilerActivity.CPU and ProfilerActivity.CUDA together.'
        END AS reason
    FROM _rule_traces t
    LEFT JOIN _step_shares s ON s.trace_id = t.trace_id
    LEFT JOIN calls c ON c.trace_id = t.trace_id AND c.place = 1
),
judged AS (
    SELECT
        *,
        CASE
            WHEN reason IS NOT NULL THEN 'not_measurable'
            WHEN 100.0 * numerator > setting('rule_runtime_overhead_pct') * denominator THEN 'finding'
            ELSE 'ok'
        END AS status
    FROM measured
)
SELECT
    'runtime_overhead' AS rule, status,
    CASE WHEN status = 'finding' THEN
        CASE
            WHEN 100.0 * numerator > setting('rule_runtime_overhead_high_pct') * denominator THEN 'high'
            ELSE 'medium'
        END
    END AS severity,
    trace_id, rank, CAST(NULL AS BIGINT) AS device, CAST(NULL AS BIGINT) AS step, CAST(NULL AS VARCHAR) AS subject,
    CASE WHEN status <> 'not_measurable' THEN 100.0 * numerator / denominator END AS value,
    'pct' AS unit,
    setting('rule_runtime_overhead_pct') AS threshold,
    CASE WHEN status <> 'not_measurable' THEN CAST(numerator AS BIGINT) END AS numerator,
    CASE WHEN status <> 'not_measurable' THEN CAST(denominator AS BIGINT) END AS denominator,
    'runtime and driver calls without device work beside them, ns' AS numerator_name,
    CASE WHEN is_marked THEN 'length of all steps, ns' ELSE 'from the first to the last operator, ns' END AS denominator_name,
    CASE WHEN status = 'not_measurable' THEN 'Runtime overhead could not be measured.' ELSE
        concat(
            'Runtime and driver calls without device work beside them take ', round(100.0 * numerator / denominator, 1), ' % of the steps: ', format_ns(numerator), ' of ',
            format_ns(denominator),
            CASE WHEN name IS NULL THEN '' ELSE concat('; of all but synchronisations the longest in sum is ', name, ' (', calls, CASE calls WHEN 1 THEN ' call, ' ELSE ' calls, ' END, format_ns(call_ns), ')') END, '.')
    END AS message,
    CASE WHEN status = 'finding' THEN
        'If the calls are launches, launch less: fuse with torch.compile, use foreach or fused optimizers, capture CUDA graphs. If they '
        || 'allocate, free or initialise, keep memory in the caching allocator and warm up before the recording; if they synchronise, see '
        || 'cpu_gpu_sync.'
    END AS advice,
    concat(
        'SELECT name, count(*) AS calls, sum(dur_ns) AS total_ns FROM events WHERE trace_id = ''', trace_id, ''' AND cat IN (''cuda_runtime'', ''cuda_driver'', ''Runtime'', ''runtime'', ''hip_runtime'', ''hip_driver'', ''xpu_runtime'', ''xpu_driver'', ',
        '''mtia_runtime'') GROUP BY name ORDER BY total_ns DESC') AS evidence,
    reason
FROM judged
