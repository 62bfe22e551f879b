-- Slow steps: steps that take far longer than the others, and what makes them long.
--
-- The numerator is how much longer than the median step the steps are that slow_steps lists, in
-- sum. The first and the last step are in neither part, because the first often is warm-up and the
-- last holds the end of the loop; the message reports them if they are slow. The subject is the
-- part of step_time that has grown most in the slow steps. A single slow step is low, as it may be
-- chance.
-- Source: the outliers of step_variation, with the device's time and as a share of all time.
-- Example: SELECT status, severity, subject, value, message FROM rule_slow_steps
-- @scope trace
-- @finding above 5 pct, high above 25: share of step time lost in slow steps
-- @column subject VARCHAR text kernel, memcpy, memset, communication, runtime, dataloader, cpu_exec
--     or other; NULL without slow steps.
-- @subject {cause}
-- @numerator length of slow steps beyond the median, ns
-- @denominator length of all steps but the first and last, ns
-- @unmeasured Slow steps could not be measured.
-- @message [No step between the first and last is far longer than the median of {alike}
--     steps.][{slow_steps} of {steps} {are_slow} {numerator:ns} {beyond} ({median_ns:ns}{each}),
--     {value} % of the time. The longest is step {longest} with {step_ns:ns}. What grows most is
--     {words}: {cause_excess_ns:ns} more in the steps that it makes slow.][ The first step takes
--     {first_ns:ns}, which is not counted: it often is warm-up.][ The last step takes {last_ns:ns},
--     which is not counted: it often holds the end of the loop.]
-- @advice {cure} Look at these steps alone with tracesql export --step.
-- @evidence SELECT r.step, r.total_ns, r.median_ns, r.to_median_ratio, r.cause, r.cause_ns,
--     r.cause_median_ns, w.numerator, w.denominator FROM (SELECT CAST(round(coalesce(s.excess_ns,
--     0)) AS BIGINT) AS numerator, l.total_ns AS denominator FROM (SELECT sum(total_ns) -
--     first_value(total_ns ORDER BY start_ns, step) - last_value(total_ns ORDER BY start_ns, step)
--     AS total_ns FROM step_time WHERE trace_id = {trace_id} AND step IS NOT NULL) l CROSS JOIN
--     (SELECT sum(excess_ns) AS excess_ns FROM slow_steps WHERE trace_id = {trace_id} AND edge IS
--     NULL) s) w LEFT JOIN (SELECT * FROM slow_steps WHERE trace_id = {trace_id}) r ON true ORDER
--     BY r.excess_ns DESC
WITH lengths AS (
    SELECT
        trace_id, count(*) AS steps,
        sum(total_ns) - first_value(total_ns ORDER BY start_ns, step)
            - last_value(total_ns ORDER BY start_ns, step) AS total_ns
    FROM step_time
    WHERE step IS NOT NULL
    GROUP BY trace_id
),
causes AS (
    SELECT
        trace_id, cause, sum(cause_excess_ns) AS cause_excess_ns, count(*) AS steps,
        sum(excess_ns) AS excess_ns
    FROM slow_steps
    WHERE edge IS NULL
    GROUP BY trace_id, cause
),
largest AS (
    SELECT
        trace_id, first_value(cause ORDER BY cause_excess_ns DESC, cause) AS cause,
        max(cause_excess_ns) AS cause_excess_ns, sum(steps) AS steps, sum(excess_ns) AS excess_ns
    FROM causes
    GROUP BY trace_id
),
longest AS (
    SELECT
        trace_id, max(median_ns) AS median_ns,
        first_value(step ORDER BY edge IS NOT NULL, total_ns DESC, step) AS step,
        first_value(total_ns ORDER BY edge IS NOT NULL, total_ns DESC, step) AS step_ns,
        max(CASE WHEN edge = 'first' THEN total_ns END) AS first_ns,
        max(CASE WHEN edge = 'last' THEN total_ns END) AS last_ns
    FROM slow_steps
    GROUP BY trace_id
),
-- plain_cure is that for other programs than PyTorch, where it differs.
words (cause, words, cure, plain_cure) AS (
    VALUES
        ('kernel', 'kernels', 'The device has more to do in these steps (longer inputs, '
            || 'evaluation, other code paths) or is slower (clocks, heat, other jobs): compare '
            || 'the kernels of a slow and of a usual step.', NULL),
        ('memcpy', 'copies', 'More is copied in these steps: look for checkpoints, logging and '
            || 'inputs that are moved late.', NULL),
        ('memset', 'fills', 'More is filled in these steps: look for buffers that are made anew.',
            NULL),
        ('communication', 'communication', 'Other ranks come late in these steps: see stragglers '
            || 'and collective_waits.', NULL),
        ('runtime', 'runtime calls', 'Calls of the runtime take long in these steps: look for '
            || 'cudaMalloc and cudaFree (changing shapes), synchronisations, and kernels that are '
            || 'loaded late.', 'Calls of the runtime take long in these steps: look for calls that '
            || 'allocate and free memory (changing shapes), synchronisations, and kernels that are '
            || 'loaded late.'),
        ('dataloader', 'data loading', 'Batches come late now and then: raise prefetch_factor and '
            || 'num_workers, keep workers alive (persistent_workers=True), and look for samples '
            || 'that are slow to read.', 'Batches come late now and then: load more of them ahead, '
            || 'and look for samples that are slow to read.'),
        ('cpu_exec', 'operators on the host', 'The host does more in these steps: look for '
            || 'logging, checkpoints, compilation and shapes that change.', NULL),
        ('other', 'nothing that is recorded', 'Nothing that is recorded goes on: look for garbage '
            || 'collection, checkpoints and files; with_stack=True shows Python.',
            'Nothing that is recorded goes on: look for garbage collection, checkpoints and files.')
)
SELECT
    t.trace_id, t.rank, CAST(round(coalesce(c.excess_ns, 0)) AS BIGINT) AS numerator,
    l.total_ns AS denominator, c.cause, l.steps, c.steps AS slow_steps, w.words,
    coalesce(CASE WHEN t.format <> 'kineto' THEN w.plain_cure END, w.cure) AS cure,
    round(c.cause_excess_ns) AS cause_excess_ns, round(g.median_ns) AS median_ns,
    g.step AS longest, g.step_ns, g.first_ns, g.last_ns,
    CASE c.steps WHEN 1 THEN 'steps is slow: it takes' ELSE 'steps are slow: they take' END
        AS are_slow,
    CASE c.steps
        WHEN 1 THEN 'longer than the median step'
        ELSE 'longer than as many median steps'
    END AS beyond,
    CASE c.steps WHEN 1 THEN '' ELSE ' each' END AS each,
    CASE WHEN c.steps IS NULL THEN l.steps END AS alike,
    CASE WHEN c.steps = 1 THEN 'low' END AS severity,
    CASE
        WHEN t.format = 'mllm_perf' THEN 'A perf.json recording has no steps.'
        WHEN l.steps IS NULL AND t.format <> 'kineto' THEN concat('The trace has no steps', a.hint)
        WHEN l.steps IS NULL
            THEN 'The trace has no steps; call prof.step() at the end of each step.'
        WHEN l.steps < setting_int('slow_step_min_steps') THEN concat(
            'The trace has ', l.steps, ' whole step', CASE WHEN l.steps > 1 THEN 's' END,
            ', too few to tell a slow one; record at least ', setting_int('slow_step_min_steps'),
            CASE WHEN t.format = 'kineto' THEN ' (active=… of torch.profiler.schedule)' END, '.')
        WHEN l.total_ns = 0 THEN 'The steps have no length.'
        ELSE t.too_little_reason
    END AS reason
FROM _rule_traces t
LEFT JOIN lengths l ON l.trace_id = t.trace_id
LEFT JOIN largest c ON c.trace_id = t.trace_id
LEFT JOIN words w ON w.cause = c.cause
LEFT JOIN longest g ON g.trace_id = t.trace_id
LEFT JOIN _record_advice a ON a.trace_id = t.trace_id AND a.information = 'steps'
