-- Steps that are far longer than the others of their trace, with the part that made each of them
-- long.
--
-- A step is listed if it is longer than slow_step_ratio (1.5) times the median step, and lies above
-- the median by more than slow_step_deviations (5) median absolute deviations, scaled to be
-- comparable with a standard deviation. Lengths and parts are those of step_time. Median and
-- deviation are those of the steps between the first, which often is warm-up, and the last, which
-- often holds the end of the loop and of the recording; these two are compared with them, and
-- marked by edge. cause is the part that has grown most over its own median. Traces with fewer than
-- slow_step_min_steps (5) steps have no rows.
--
-- Source: the modified z-score of Iglewicz and Hoaglin, with a minimum ratio.
-- Example: SELECT step, total_ns, median_ns, cause, cause_excess_ns FROM slow_steps
--   ORDER BY excess_ns DESC
-- Holds: abs(excess_ns - (total_ns - median_ns)) < 0.001
-- Holds: abs(cause_excess_ns - (cause_ns - cause_median_ns)) < 0.001
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column step BIGINT id Number of the step.
-- @column edge VARCHAR text first or last, if it is the first or last step of the trace; NULL
--   between.
-- @column start_ns BIGINT ns Start of the step (step_time.start_ns).
-- @column total_ns BIGINT ns Length of the step (step_time.total_ns).
-- @column median_ns DOUBLE ns Median length of the steps.
-- @column excess_ns DOUBLE ns total_ns - median_ns.
-- @column to_median_ratio DOUBLE ratio total_ns by median_ns; NULL if that is 0.
-- @column deviations DOUBLE number excess_ns in scaled median absolute deviations; NULL if these
--   are 0.
-- @column cause VARCHAR text What has grown most: kernel, memcpy, memset, communication, runtime,
--   dataloader, cpu_exec or other.
-- @column cause_ns BIGINT ns Time of that part in the step.
-- @column cause_median_ns DOUBLE ns Median time of that part in the steps.
-- @column cause_excess_ns DOUBLE ns cause_ns - cause_median_ns.
WITH marked AS (
    SELECT
        *, count(*) OVER (PARTITION BY trace_id) AS steps,
        CASE
            WHEN row_number() OVER (PARTITION BY trace_id ORDER BY start_ns, step) = 1 THEN 'first'
            WHEN row_number() OVER (PARTITION BY trace_id ORDER BY start_ns DESC, step DESC) = 1
                THEN 'last'
        END AS edge
    FROM step_time
    WHERE step IS NOT NULL
),
typical AS (
    SELECT
        trace_id,
        median(CAST(total_ns AS DOUBLE)) AS median_ns,
        1.4826 * mad(CAST(total_ns AS DOUBLE)) AS deviation_ns,
        median(CAST(kernel_ns AS DOUBLE)) AS kernel_ns,
        median(CAST(memcpy_ns AS DOUBLE)) AS memcpy_ns,
        median(CAST(memset_ns AS DOUBLE)) AS memset_ns,
        median(CAST(communication_ns AS DOUBLE)) AS communication_ns,
        median(CAST(runtime_ns AS DOUBLE)) AS runtime_ns,
        median(CAST(dataloader_ns AS DOUBLE)) AS dataloader_ns,
        median(CAST(cpu_exec_ns AS DOUBLE)) AS cpu_exec_ns,
        median(CAST(other_ns AS DOUBLE)) AS other_ns
    FROM marked
    WHERE edge IS NULL
    GROUP BY trace_id
),
slow AS (
    SELECT
        m.trace_id, m.rank, m.step, m.edge, m.start_ns, m.total_ns, t.median_ns, t.deviation_ns,
        unnest(
            make_array(
                'kernel', 'memcpy', 'memset', 'communication', 'runtime', 'dataloader', 'cpu_exec',
                'other'
            )
        ) AS part,
        unnest(make_array(
            m.kernel_ns, m.memcpy_ns, m.memset_ns, m.communication_ns, m.runtime_ns,
            m.dataloader_ns, m.cpu_exec_ns, m.other_ns
        )) AS part_ns,
        unnest(make_array(
            t.kernel_ns, t.memcpy_ns, t.memset_ns, t.communication_ns, t.runtime_ns,
            t.dataloader_ns, t.cpu_exec_ns, t.other_ns
        )) AS part_median_ns
    FROM marked m
    JOIN typical t ON t.trace_id = m.trace_id
    WHERE m.steps >= setting_int('slow_step_min_steps')
        AND m.total_ns > setting('slow_step_ratio') * t.median_ns
            AND m.total_ns - t.median_ns > setting('slow_step_deviations') * t.deviation_ns
),
parted AS (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY trace_id, step ORDER BY part_ns - part_median_ns DESC, part
        ) AS number
    FROM slow
)
SELECT
    trace_id, rank, step, edge, start_ns, total_ns, median_ns,
    total_ns - median_ns AS excess_ns,
    total_ns / nullif(median_ns, 0) AS to_median_ratio,
    (total_ns - median_ns) / nullif(deviation_ns, 0) AS deviations,
    part AS cause,
    part_ns AS cause_ns,
    part_median_ns AS cause_median_ns,
    part_ns - part_median_ns AS cause_excess_ns
FROM parted
WHERE number = 1
