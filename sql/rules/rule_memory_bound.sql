-- Memory-bound operations: device time in operators that move much memory for little arithmetic.
--
-- The numerator is that of operators whose verdict in memory_bound_operations is memory bound. What
-- runs at the same time counts twice in both parts. The subject is the operator with most of it.
-- The limit between low and medium depends on the device (setting memory_bound_flop_per_byte). The
-- rule is ok only if what could not be measured cannot take the value above the limit: operators
-- without figures, and kernels that no operator launched, communication aside.
-- Source: the memory bound rule that PRISM's training profiler names but does not define.
-- @scope trace
-- @finding low above 30 pct, medium above 60: share of device time in memory-bound operators
-- @subject {name}
-- @numerator device time of operators bound by memory, ns
-- @denominator time of all kernels, copies and fills, ns
-- @unmeasured Memory-bound operations could not be measured.
-- @message Operators bound by memory take {value} % of the time of all kernels, copies and fills:
--     {numerator:ns} of {denominator:ns}[, most of it {name}][ ({unknown_ns:ns} could not be
--     measured)].
-- @advice Fuse them with their neighbours (torch.compile, fused optimizers, fused attention) so
--     that memory is read once, use lower precision, or larger sizes.
-- @evidence SELECT m.name, m.input_shapes, m.calls, m.device_self_ns, m.flop_per_byte, m.verdict,
--     sum(CASE WHEN m.verdict = 'memory bound' THEN m.device_self_ns ELSE 0 END) OVER () AS
--     numerator, w.denominator FROM memory_bound_operations m CROSS JOIN (SELECT sum(dur_ns) AS
--     denominator FROM kernels WHERE kind IN ('kernel', 'memcpy', 'memset') AND dur_ns >= 0 AND
--     trace_id = {trace_id}) w WHERE m.trace_id = {trace_id} ORDER BY m.device_self_ns DESC
WITH names AS (
    SELECT
        trace_id, name, sum(device_self_ns) AS all_ns,
        coalesce(sum(device_self_ns) FILTER (WHERE verdict = 'memory bound'), 0) AS bound_ns,
        coalesce(sum(device_self_ns) FILTER (WHERE verdict <> 'not measurable'), 0) AS known_ns
    FROM memory_bound_operations
    GROUP BY trace_id, name
),
sums AS (
    SELECT
        trace_id, sum(bound_ns) AS bound_ns, sum(all_ns) AS operators_ns, sum(known_ns) AS known_ns,
        first_value(CASE WHEN bound_ns > 0 THEN name END ORDER BY bound_ns DESC, name) AS name
    FROM names
    GROUP BY trace_id
),
-- Copies, fills and communication outside operators are not operations that can be memory-bound.
device AS (
    SELECT
        trace_id, sum(dur_ns) AS device_ns,
        coalesce(
            sum(dur_ns) FILTER (WHERE NOT coalesce(owner_is_listed, false)
                AND (kind <> 'kernel' OR class = 'communication')), 0) AS other_ns
    FROM _launched_work
    GROUP BY trace_id
),
shares AS (
    SELECT s.*, d.device_ns, greatest(d.device_ns - s.known_ns - d.other_ns, 0) AS unknown_ns
    FROM sums s
    JOIN device d ON d.trace_id = s.trace_id
)
SELECT
    t.trace_id, t.rank, s.bound_ns AS numerator, s.device_ns AS denominator, s.name,
    nullif(s.unknown_ns, 0) AS unknown_ns,
    CASE
        WHEN t.format <> 'kineto' THEN 'Fuse them with their neighbours so that memory is read '
            || 'once, use lower precision, or larger sizes.'
    END AS advice,
    CASE
        WHEN t.no_device_reason IS NOT NULL THEN t.no_device_reason
        WHEN t.format <> 'kineto' AND coalesce(s.known_ns, 0) = 0
            THEN concat('Operators cannot be measured without their shapes', a.hint)
        WHEN coalesce(s.operators_ns, 0) = 0 THEN 'No device work is linked to an operator; record '
            || 'ProfilerActivity.CPU and ProfilerActivity.CUDA together.'
        WHEN s.known_ns = 0 THEN 'No operator could be measured; use record_shapes=True.'
        WHEN 100.0 * s.bound_ns <= setting('rule_memory_bound_pct') * s.device_ns
            AND 100.0 * (s.bound_ns + s.unknown_ns)
                > setting('rule_memory_bound_pct') * s.device_ns
            THEN concat(
                round(100.0 * s.unknown_ns / s.device_ns, 1), ' % of the time of all kernels, ',
                'copies and fills cannot be measured (', format_ns(s.unknown_ns), ' of ',
                format_ns(s.device_ns), '); ', round(100.0 * s.bound_ns / s.device_ns, 1),
                ' % are known to be bound by memory. memory_bound_operations says why',
                CASE WHEN t.format = 'kineto' THEN '; shapes need record_shapes=True' END, '.')
        ELSE t.too_little_reason
    END AS reason
FROM _rule_traces t
LEFT JOIN shares s ON s.trace_id = t.trace_id
LEFT JOIN _record_advice a ON a.trace_id = t.trace_id AND a.information = 'shapes'
