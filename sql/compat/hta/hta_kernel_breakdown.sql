-- Duration of device work by name: each name on its own, and folded as Holistic Trace Analysis
-- 0.6.1 folds it.
-- @expand hta_kernel_breakdown
-- @expand hta_kernel_breakdown_folded folded
--
-- @if folded
-- Duration of device work by name, with rare names as "others", as Holistic Trace Analysis 0.6.1
-- has it by default.
--
-- If a type has more than hta_num_kernels names, HTA sorts them by their sum, and calls a name
-- "others" after that many names, or where the running sum exceeds the quantile hta_duration_ratio
-- of all running sums. It then takes maximum, minimum, mean and deviation of the sums by name, not
-- of durations: a name of its own has mean_us = sum_us there. hta_kernel_breakdown does not fold.
-- Names with equal sums are ordered by name, which HTA leaves open.
-- @else
-- Duration of device work by type and name, as Holistic Trace Analysis 0.6.1 has it without
-- folding.
--
-- The type OTHER is left out. Types are those of the ruleset hta_0_6, rows those that HTA keeps:
-- whole microseconds, without the last step.
-- @end
--
-- @if folded
-- Source: the second table of get_gpu_kernel_breakdown of HTA 0.6.1.
-- @else
-- Source: the second table of get_gpu_kernel_breakdown of HTA 0.6.1 with a large num_kernels;
--   kernels_by_name has exact times by device.
-- @end
-- Example: SELECT kernel_type, name, sum_us FROM {view} ORDER BY sum_us DESC LIMIT 5
-- Holds: min_us <= mean_us AND mean_us <= max_us
-- Range: any sum_us, min_us, mean_us, max_us; an event below 1 us can have -1.
-- Range: any stddev_us; a deviation has no bound.
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column kernel_type VARCHAR text COMPUTATION, COMMUNICATION or MEMORY.
-- @column name VARCHAR text Name of the kernel or copy.
-- @column sum_us BIGINT us Sum of durations.
-- @column max_us BIGINT us The longest.
-- @column min_us BIGINT us The shortest.
-- @column stddev_us DOUBLE us Standard deviation of a sample; 0 for a single row.
-- @column mean_us DOUBLE us Mean.
WITH names AS (
    SELECT
        trace_id, work_type, name,
        sum(dur_us) AS sum_us,
        max(dur_us) AS max_us,
        min(dur_us) AS min_us,
        coalesce(stddev_samp(CAST(dur_us AS DOUBLE)), 0) AS stddev_us,
        avg(dur_us) AS mean_us
    FROM _hta_work
    WHERE work_type <> 'OTHER'
    GROUP BY trace_id, work_type, name
)
-- @if folded
,
running AS (
    SELECT *,
        count(*) OVER (PARTITION BY trace_id, work_type) AS names,
        row_number() OVER by_sum AS place,
        running_sum(sum_us) OVER by_sum AS so_far_us
    FROM names
    WINDOW by_sum AS (PARTITION BY trace_id, work_type ORDER BY sum_us DESC, name)
),
limits AS (
    SELECT
        trace_id, work_type,
        quantile(CAST(so_far_us AS DOUBLE), 0.8) AS limit_us
    FROM running
    GROUP BY trace_id, work_type
),
folded AS (
    SELECT
        r.trace_id, r.work_type,
        CASE
            WHEN r.so_far_us > l.limit_us OR r.place > 10
                THEN 'others'
            ELSE r.name
        END AS name,
        r.sum_us
    FROM running r
    JOIN limits l ON l.trace_id = r.trace_id AND l.work_type = r.work_type
    WHERE r.names > 10
),
rows AS (
    SELECT
        trace_id, work_type, name,
        sum(sum_us) AS sum_us,
        max(sum_us) AS max_us,
        min(sum_us) AS min_us,
        coalesce(stddev_samp(CAST(sum_us AS DOUBLE)), 0) AS stddev_us,
        avg(sum_us) AS mean_us
    FROM folded
    GROUP BY trace_id, work_type, name
    UNION ALL
    SELECT trace_id, work_type, name, sum_us, max_us, min_us, stddev_us, mean_us
    FROM running
    WHERE names <= 10
)
-- @end
SELECT
    n.trace_id, t.rank,
    n.work_type AS kernel_type,
    n.name, n.sum_us, n.max_us, n.min_us, n.stddev_us, n.mean_us
-- @if folded
FROM rows n
-- @else
FROM names n
-- @end
JOIN traces t ON t.trace_id = n.trace_id
