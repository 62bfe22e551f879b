-- Inefficient operators: calls that take much of the device time and are far below their roofline,
-- with the likely cause.
--
-- There is a row for each operator and shapes that takes at least 2 % of the device's work and is
-- below 60 % of its roofline, or that the device could compute faster in another type. Without such
-- an operator, the one that would save most has a row that is ok. Calls so short that launching
-- decides (the cause small calls) are left out. So are calls of which only a lower bound is known,
-- such as attention over a cache of unknown length. In a trace with little device work
-- (rule_min_device_work, rule_min_duration_ns) operators with three calls or more are judged. The
-- numerator is the time that would be saved at the roofline (lost_time.gain_ns, else lost_ns).
-- Source: lost_time.
-- @scope trace
-- @finding low above 1 pct, medium above 10: share of device time that the roofline would save
-- @setting rule_inefficient_operator_roofline_pct 60 pct Share of the roofline from which an
--     operator is good enough.
-- @setting rule_inefficient_operator_device_pct 2 pct Share of device time below which
--     rule_inefficient_operator leaves operators out.
-- @subject {name} {shapes}
-- @numerator device time that would be saved at the roofline, ns
-- @denominator device time, ns
-- @unmeasured The distance of operators from their roofline could not be measured.
-- @message {name} {shapes} takes {device_pct:1} % of the time of device {device} and reaches
--     {roofline_pct:1} % of its roofline ({bound}): {numerator:ns} of {denominator:ns} could be
--     saved[; likely cause: {cause} ({figure})][; also: {further_causes}].
-- @advice Look at its kernels in kernel_roofline and at other shapes in operator_roofline, and try
--     torch.compile with mode="max-autotune".
-- @evidence SELECT name, input_shapes, dtype, calls, device_ns, roofline_pct, bound, lost_ns,
--     cause, figure, further_causes, gain_ns, CAST({numerator} AS BIGINT) AS numerator,
--     CAST({denominator} AS BIGINT) AS denominator FROM lost_time WHERE trace_id = {trace_id}
--     AND (device IS NOT DISTINCT FROM {device}) ORDER BY coalesce(gain_ns, lost_ns) DESC LIMIT 20
WITH rows AS (
    SELECT
        *,
        greatest(coalesce(gain_ns, lost_ns), 0) AS saved_ns,
        device_ns * 100.0 / nullif(device_pct, 0) AS all_ns,
        (cause IS DISTINCT FROM 'small calls')
            AND device_pct >= setting('rule_inefficient_operator_device_pct')
            AND (
                roofline_pct < setting('rule_inefficient_operator_roofline_pct')
                OR regexp_like(
                    concat_ws('; ', cause, further_causes), '(fp64|fp32|bf16) (products|elements)')
            ) AS is_hit
    FROM lost_time
    WHERE quality <> 'lower_bound'
),
ranked AS (
    SELECT
        *, row_number() OVER (
            PARTITION BY trace_id, device ORDER BY is_hit DESC, saved_ns DESC, name, input_shapes
        ) AS number
    FROM rows
),
coverage AS (
    SELECT
        trace_id, device,
        sum(device_pct) FILTER (WHERE coverage IN ('modelled', 'bytes only')) AS known_pct
    FROM roofline_coverage
    GROUP BY trace_id, device
),
chosen AS (
    SELECT
        c.trace_id, c.device, c.known_pct, d.reason AS device_reason, r.name, r.input_shapes,
        r.device_pct, r.roofline_pct, r.bound, r.cause, r.figure, r.further_causes, r.advice,
        r.calls, r.is_hit,
        CAST(round(r.saved_ns) AS BIGINT) AS saved_ns, CAST(round(r.all_ns) AS BIGINT) AS all_ns
    FROM coverage c
    JOIN device_roofline d
        ON d.trace_id = c.trace_id AND (d.device IS NOT DISTINCT FROM c.device)
    LEFT JOIN ranked r
        ON r.trace_id = c.trace_id AND (r.device IS NOT DISTINCT FROM c.device)
            AND (r.number = 1 OR r.is_hit AND r.number <= 10)
)
SELECT
    t.trace_id, t.rank, c.device, c.name, left(c.input_shapes, 120) AS shapes, c.device_pct,
    c.roofline_pct, c.bound, c.cause, c.figure, c.further_causes,
    c.saved_ns AS numerator, c.all_ns AS denominator,
    CASE WHEN NOT c.is_hit THEN false END AS is_finding,
    CASE
        WHEN c.advice IS NOT NULL THEN c.advice
        WHEN t.format <> 'kineto' THEN 'Look at its kernels in kernel_roofline and at other shapes '
            || 'in operator_roofline.'
    END AS advice,
    CASE
        WHEN t.no_device_reason IS NOT NULL THEN t.no_device_reason
        WHEN c.device_reason IS NOT NULL
            THEN concat('The peaks are not known: ', c.device_reason, '.')
        WHEN c.name IS NULL
            THEN concat(
                'No operator has figures, or lower bounds only',
                CASE WHEN t.format = 'kineto' THEN '; use record_shapes=True' END,
                ' (roofline_coverage says why).')
        -- A few calls of an operator show its distance also where there is little other work.
        WHEN NOT (c.is_hit AND c.calls >= 3) THEN t.too_little_reason
    END AS reason
FROM _rule_traces t
LEFT JOIN chosen c ON c.trace_id = t.trace_id
