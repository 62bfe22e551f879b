-- Hot operations: operators that take more than their share of the time.
--
-- The numerator is the operator's own time. The denominator is all device time of the trace,
-- launched by operators or not, or on the host the own time of all operators. There is a row for
-- each operator that hot_operations lists; where it lists none, the operator that takes most has a
-- row that is ok. Something has to take the time, so a hot operator is no fault: info. Operators
-- that only copy (aten::copy_, _to_copy, clone, contiguous, cat, stack) are faults, because
-- conversions, layouts and copies can be avoided: low or medium. They too are info on the host of a
-- trace with device work, as that time matters only where the device waits for it. In XPlane files
-- operators are those of compiled programs, as in framework_operators.
-- Source: the hot operation rule of PRISM's training profiler, with own times instead of nested
--     totals and other severities.
-- @scope trace
-- @finding low above hot_operation_pct pct, medium above hot_operation_high_pct
-- @numerator own time of the operator, ns
-- @unmeasured Hot operations could not be measured.
-- @message {name} takes {value} % of {all}: {numerator:ns} of {denominator:ns} in
--     {calls:call|calls}.
-- @advice Here a change pays most: look at its shapes in operators_by_input, at where it is called
--     from in operators_by_stack and module_tree, and at its kernels in kernels_by_operator.
WITH ranked AS (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY trace_id, place ORDER BY calls > 0 DESC, self_ns DESC, name) AS number,
        regexp_like(name, '^aten::(copy_?|_to_copy|clone|contiguous|_?cat|stack)$') AS is_copy
    FROM _operation_times
),
hot AS (
    SELECT *
    FROM ranked
    WHERE calls > 0 AND all_ns > 0
        AND (number = 1 OR 100.0 * self_ns > setting('hot_operation_pct') * all_ns)
)
SELECT
    t.trace_id, t.rank, h.name, h.calls, h.self_ns AS numerator, h.all_ns AS denominator,
    h.name || ' on the ' || h.place AS subject,
    CASE
        WHEN h.is_compiled
            THEN concat('own time of all compiled operators on the ', h.place, ', ns')
        WHEN h.place = 'device' THEN 'all device time, ns'
        WHEN h.place = 'host' THEN 'own time of all operators on the host, ns'
    END AS denominator_name,
    CASE
        WHEN h.is_compiled
            THEN concat('the own time of all compiled operators on the ', h.place)
        WHEN h.place = 'device' THEN 'all device time'
        ELSE 'the operators'' own time on the host'
    END AS all,
    CASE WHEN t.device_work > 0 AND h.place = 'host' OR NOT h.is_copy THEN 'info' END AS severity,
    CASE
        WHEN h.is_copy THEN 'It computes nothing: keep tensors in one type, memory format and '
            || 'device, write into buffers that are there (out=), and copy less often; '
            || 'operators_by_stack and module_tree say where it is called from, '
            || 'operators_by_input which types and shapes it copies.'
        WHEN h.is_compiled THEN 'Here a change pays most: hlo_operators has the operations and '
            || 'bytes of compiled operators, and framework_operators the operators of the '
            || 'framework that they come from.'
    END AS advice,
    CASE
        WHEN h.is_compiled THEN concat(
            'SELECT name, sum(calls) AS calls, sum(self_ns) AS self_ns, ',
            'sum(sum(CASE WHEN name = ''', replace(h.name, '''', ''''''), ''' THEN self_ns END)) ',
            'OVER () AS numerator, sum(sum(self_ns)) OVER () AS denominator ',
            'FROM framework_operators WHERE trace_id = ''', t.trace_id, ''' AND device IS ',
            CASE h.place WHEN 'device' THEN 'NOT ' END,
            'NULL GROUP BY name ORDER BY self_ns DESC LIMIT 20')
        ELSE concat(
            'SELECT name, calls, ', h.place, '_self_ns, ', h.place, '_self_pct, ',
            'sum(CASE WHEN name = ''', replace(h.name, '''', ''''''), ''' THEN ', h.place,
            '_self_ns END) OVER () AS numerator, sum(', h.place, '_self_ns) OVER () AS ',
            'denominator FROM operators WHERE trace_id = ''', t.trace_id,
            ''' ORDER BY ', h.place, '_self_ns DESC LIMIT 20')
    END AS evidence,
    CASE
        WHEN t.format <> 'mllm_perf' AND a.how_to_record IS NULL THEN t.no_device_reason
        WHEN t.format <> 'mllm_perf' AND t.too_little_reason IS NOT NULL THEN t.too_little_reason
        WHEN h.trace_id IS NULL AND t.format = 'mllm_perf'
            THEN 'For perf.json recordings mllm_operation_totals has the operations.'
        WHEN h.trace_id IS NULL AND t.format = 'xplane'
            THEN 'The trace has no operators of compiled programs.'
        WHEN h.trace_id IS NULL THEN concat('The trace has no operators', a.hint)
    END AS reason
FROM _rule_traces t
LEFT JOIN hot h ON h.trace_id = t.trace_id AND t.too_little_reason IS NULL
LEFT JOIN _record_advice a ON a.trace_id = t.trace_id AND a.information = 'operators'
