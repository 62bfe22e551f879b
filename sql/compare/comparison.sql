-- Base and candidate compared by operator, kernel, module, step or category, with a verdict that
-- separates differences from noise.
--
-- The sides are those of compare_sides. dimension says what a row is about:
-- - op: operators by name: host is their time on the host without operators and runtime calls
--   inside, device the time of the kernels, copies and fills that they launched themselves, so that
--   libraries of different vendors meet in the operator above; (unattributed) is device work that
--   no operator launched. Operations of perf.json are operators too
-- - family: the same by family of operators: GEMM, CONV_fwd, elementwise, communication, view, …,
--   and other for the rest
-- - kernel: kernels by name
-- - kernel_type: device work by what it does: computation, communication, memcpy, memset; each call
--   by its class
-- - class: device work by class: gemm, attention, communication, …, and unclassified for what no
--   evidence could classify (kernel_classes)
-- - module: modules by their path: host is their time without modules inside, device the time of
--   the work that they launched themselves
-- - step: the length of steps: with their device work (step_time), and on the host alone
-- - category: the parts of step_time, which add up to the step
--
-- Totals are sums over all traces of a side. Times per step are means: each step is the mean over
-- the ranks that have it, and 0 where the key does not occur in a step. The verdict comes from
-- these values per step:
-- - not judged: a side has fewer than compare_min_steps (4) steps, or nothing of the kind at all;
--   reason says which
-- - added, removed: it is on one side only
-- - same: the shift (Hodges and Lehmann) and the difference of the means are at most
--   compare_same_pct (1) percent of the base's mean
-- - noise: the test of Mann and Whitney gives more than compare_alpha (0.05), or the shift is
--   within noise_ns, which is twice the standard error of the difference by the median absolute
--   deviations
-- - slower, faster: the shift is neither, and the mean changed in the same direction
-- - mixed: the shift is neither, but the mean changed in the other direction: most steps differ in
--   one direction, and a few long ones in the other
--
-- About five in a hundred rows that do not differ pass that test by chance. Where a side has no
-- steps, the times per step are NULL.
--
-- Source: Mann and Whitney 1947; Hodges and Lehmann 1963; the alignment by operator above the
--   library is that of TraceLens' comparison.
-- Example: SELECT key, measure, base_step_ns, cand_step_ns, verdict FROM comparison
--   WHERE dimension = 'step'
-- Holds: abs(delta_ns - (cand_ns - base_ns)) < 0.001
-- Range: sum base_total_ns, cand_total_ns, base_step_ns, cand_step_ns, base_ns, cand_ns,
--   base_median_ns, cand_median_ns, base_mad_ns, cand_mad_ns, noise_ns
-- Range: any delta_ns, shift_ns; a difference.
-- Range: any delta_pct; a difference as percent of the base, which may be small.
--
-- @scope store
-- @column trace_id VARCHAR text The first trace of the candidate.
-- @column dimension VARCHAR text op, family, kernel, kernel_type, class, module, step or category.
-- @column key VARCHAR text Name of the operator, family, kernel, type, class, module, part.
-- @column measure VARCHAR text host, device, or time for steps and categories.
-- @column verdict VARCHAR text slower, faster, mixed, same, noise, added, removed or not judged.
-- @column base_traces BIGINT count Traces of the base that have it.
-- @column cand_traces BIGINT count Traces of the candidate that have it.
-- @column base_steps BIGINT count Steps of the base that are compared.
-- @column cand_steps BIGINT count Steps of the candidate that are compared.
-- @column base_calls BIGINT count Calls in the base; 0 if it is not there.
-- @column cand_calls BIGINT count Calls in the candidate; 0 if it is not there.
-- @column base_total_ns BIGINT ns Time in the base, over all traces and also outside of steps.
-- @column cand_total_ns BIGINT ns Time in the candidate, over all traces and also outside of steps.
-- @column base_step_ns DOUBLE ns Mean time per step in the base; NULL if a side has no steps.
-- @column cand_step_ns DOUBLE ns Mean time per step in the candidate; NULL if a side has no steps.
-- @column base_ns DOUBLE ns Time of the base that is compared: base_step_ns, else base_total_ns
--   divided by the traces of the base.
-- @column cand_ns DOUBLE ns The same time of the candidate.
-- @column delta_ns DOUBLE ns cand_ns less base_ns.
-- @column delta_pct DOUBLE pct delta_ns as percent of base_ns; NULL if that is 0.
-- @column time_ratio DOUBLE ratio cand_ns by base_ns; NULL if that is 0.
-- @column base_median_ns DOUBLE ns Median of the base's steps.
-- @column cand_median_ns DOUBLE ns Median of the candidate's steps.
-- @column base_mad_ns DOUBLE ns Median absolute deviation of the base's steps.
-- @column cand_mad_ns DOUBLE ns Median absolute deviation of the candidate's steps.
-- @column shift_ns DOUBLE ns By how much the candidate's steps are shifted: the median of the
--   differences of all pairs.
-- @column noise_ns DOUBLE ns Twice the standard error of the difference.
-- @column p_value DOUBLE number Two-sided p-value of the test of Mann and Whitney; NULL if there is
--   nothing to test.
-- @column reason VARCHAR text Why it is not judged; NULL if it is.
WITH size AS (
    SELECT
        count(*) FILTER (WHERE side = 'base') AS base_all,
        count(*) FILTER (WHERE side = 'candidate') AS cand_all,
        min(trace_id) FILTER (WHERE side = 'candidate') AS trace_id
    FROM compare_sides
),
-- The steps of a run, with the number of ranks that contain each step.
marks AS (
    SELECT s.side, s.run, t.step, count(DISTINCT t.trace_id) AS ranks
    FROM steps t
    JOIN compare_sides s ON s.trace_id = t.trace_id
    GROUP BY s.side, s.run, t.step
),
mark_counts AS (
    SELECT
        count(*) FILTER (WHERE side = 'base') AS base_marks,
        count(*) FILTER (WHERE side = 'candidate') AS cand_marks
    FROM marks
),
-- The steps of runs. Rows with a NULL step contain everything outside of steps.
by_step AS (
    SELECT
        v.dimension, v.key, v.measure, v.side, v.run, v.step,
        sum(v.calls) AS calls,
        sum(v.ns) AS ns,
        CAST(sum(v.ns) AS DOUBLE)
            / CASE WHEN v.dimension IN ('step', 'category') THEN count(*) ELSE max(m.ranks) END
            AS sample
    FROM _compare_values v
    LEFT JOIN marks m ON m.side = v.side AND m.run = v.run AND m.step = v.step
    GROUP BY v.dimension, v.key, v.measure, v.side, v.run, v.step
),
-- The traces in which a key occurs.
seen AS (
    SELECT
        dimension, key, measure,
        count(*) FILTER (WHERE side = 'base') AS base_traces,
        count(*) FILTER (WHERE side = 'candidate') AS cand_traces
    FROM (
        SELECT dimension, key, measure, side, trace_id
        FROM _compare_values
        WHERE calls > 0 OR ns > 0
        GROUP BY dimension, key, measure, side, trace_id
    )
    GROUP BY dimension, key, measure
),
totals AS (
    SELECT
        dimension, key, measure,
        array_agg(sample) FILTER (WHERE side = 'base' AND step IS NOT NULL) AS base_found,
        array_agg(sample) FILTER (WHERE side = 'candidate' AND step IS NOT NULL) AS cand_found,
        coalesce(sum(calls) FILTER (WHERE side = 'base'), 0) AS base_calls,
        coalesce(sum(calls) FILTER (WHERE side = 'candidate'), 0) AS cand_calls,
        coalesce(sum(ns) FILTER (WHERE side = 'base'), 0) AS base_total_ns,
        coalesce(sum(ns) FILTER (WHERE side = 'candidate'), 0) AS cand_total_ns
    FROM by_step
    GROUP BY dimension, key, measure
),
-- Steps in which a key does not occur count as 0. For steps and categories, all values exist.
padded AS (
    SELECT
        t.* EXCLUDE (base_found, cand_found),
        coalesce(s.base_traces, 0) AS base_traces,
        coalesce(s.cand_traces, 0) AS cand_traces,
        array_concat(
            coalesce(t.base_found, arrow_cast(make_array(), 'List(Float64)')),
            array_repeat(CAST(0 AS DOUBLE), CASE
                WHEN t.dimension IN ('step', 'category') THEN 0
                ELSE greatest(
                    m.base_marks - CAST(coalesce(array_length(t.base_found), 0) AS BIGINT), 0
                )
            END)
        ) AS base,
        array_concat(
            coalesce(t.cand_found, arrow_cast(make_array(), 'List(Float64)')),
            array_repeat(CAST(0 AS DOUBLE), CASE
                WHEN t.dimension IN ('step', 'category') THEN 0
                ELSE greatest(
                    m.cand_marks - CAST(coalesce(array_length(t.cand_found), 0) AS BIGINT), 0
                )
            END)
        ) AS cand
    FROM totals t
    LEFT JOIN seen s
        ON s.dimension = t.dimension
            AND (s.key IS NOT DISTINCT FROM t.key)
            AND s.measure = t.measure
    CROSS JOIN mark_counts m
),
figures AS (
    SELECT
        dimension, key, measure, base_traces, cand_traces, base_calls, cand_calls, base_total_ns,
        cand_total_ns,
        count(base_value) AS base_steps, count(cand_value) AS cand_steps,
        CASE
            WHEN count(cand_value) > 0 THEN sum(base_value) / nullif(count(base_value), 0)
        END AS base_step_ns,
        CASE
            WHEN count(base_value) > 0 THEN sum(cand_value) / nullif(count(cand_value), 0)
        END AS cand_step_ns,
        quantile(base_value, 0.5) AS base_median_ns, quantile(cand_value, 0.5) AS cand_median_ns,
        mad(base_value) AS base_mad_ns, mad(cand_value) AS cand_mad_ns,
        array_agg(base_value) FILTER (WHERE base_value IS NOT NULL) AS base,
        array_agg(cand_value) FILTER (WHERE cand_value IS NOT NULL) AS cand
    FROM (
        SELECT
            * EXCLUDE (base, cand),
            -- Without steps, this is a row with NULL, because unnest drops rows with an empty list.
            unnest(
                CASE
                    WHEN array_length(base) > 0 OR array_length(cand) > 0 THEN base
                    ELSE make_array(CAST(NULL AS DOUBLE))
                END
            ) AS base_value,
            unnest(cand) AS cand_value
        FROM padded
    )
    GROUP BY
        dimension, key, measure, base_traces, cand_traces, base_calls, cand_calls, base_total_ns,
        cand_total_ns
),
tested AS (
    SELECT
        f.* EXCLUDE (base, cand), z.trace_id,
        CAST(f.base_total_ns AS DOUBLE) / nullif(z.base_all, 0) AS base_trace_ns,
        CAST(f.cand_total_ns AS DOUBLE) / nullif(z.cand_all, 0) AS cand_trace_ns,
        hodges_lehmann(f.base, f.cand) AS shift_ns,
        2 * 1.4826 * sqrt(
            power(f.base_mad_ns, 2) / nullif(f.base_steps, 0)
                + power(f.cand_mad_ns, 2) / nullif(f.cand_steps, 0)
        ) AS noise_ns,
        mann_whitney(f.base, f.cand)['p_value'] AS p_value
    FROM figures f
    CROSS JOIN size z
),
sided AS (
    SELECT
        *,
        sum(base_traces) OVER (PARTITION BY dimension, measure) AS base_any,
        sum(cand_traces) OVER (PARTITION BY dimension, measure) AS cand_any,
        CASE
            WHEN dimension IN ('step', 'category') THEN 'steps'
            WHEN measure = 'device' THEN 'device work'
            WHEN dimension = 'module' THEN 'modules'
            ELSE 'operators'
        END AS things
    FROM tested
),
compared AS (
    SELECT
        *,
        coalesce(base_step_ns, base_trace_ns) AS base_ns,
        coalesce(cand_step_ns, cand_trace_ns) AS cand_ns,
        CASE
            WHEN base_any = 0 THEN concat('the base has no ', things)
            WHEN cand_any = 0 THEN concat('the candidate has no ', things)
            WHEN base_traces = 0 OR cand_traces = 0 THEN NULL
            WHEN base_steps = 0 AND cand_steps = 0 THEN 'neither side has steps'
            WHEN base_steps = 0 THEN 'the base has no steps'
            WHEN cand_steps = 0 THEN 'the candidate has no steps'
            WHEN least(base_steps, cand_steps) < setting_int('compare_min_steps') THEN concat(
                CASE
                    WHEN base_steps <= cand_steps THEN 'the base has '
                    ELSE 'the candidate has '
                END,
                least(base_steps, cand_steps),
                CASE WHEN least(base_steps, cand_steps) = 1 THEN ' step, ' ELSE ' steps, ' END,
                setting_int('compare_min_steps'), ' are needed'
            )
        END AS reason
    FROM sided
    WHERE base_traces > 0 OR cand_traces > 0
)
SELECT
    trace_id, dimension, key, measure,
    CASE
        WHEN reason IS NOT NULL THEN 'not judged'
        WHEN base_traces = 0 THEN 'added'
        WHEN cand_traces = 0 THEN 'removed'
        WHEN greatest(abs(shift_ns), abs(cand_step_ns - base_step_ns)) * 100
            <= setting('compare_same_pct') * base_step_ns
            THEN 'same'
        WHEN p_value > setting('compare_alpha') OR abs(shift_ns) <= noise_ns THEN 'noise'
        WHEN shift_ns > 0 AND cand_step_ns > base_step_ns THEN 'slower'
        WHEN shift_ns < 0 AND cand_step_ns < base_step_ns THEN 'faster'
        ELSE 'mixed'
    END AS verdict,
    base_traces, cand_traces, base_steps, cand_steps, base_calls, cand_calls, base_total_ns,
    cand_total_ns, base_step_ns, cand_step_ns,
    base_ns, cand_ns,
    cand_ns - base_ns AS delta_ns,
    100.0 * (cand_ns - base_ns) / nullif(base_ns, 0) AS delta_pct,
    cand_ns / nullif(base_ns, 0) AS time_ratio,
    base_median_ns, cand_median_ns, base_mad_ns, cand_mad_ns, shift_ns, noise_ns, p_value,
    reason
FROM compared
