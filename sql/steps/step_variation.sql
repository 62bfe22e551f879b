-- Steps compared with each other: the length of each, and its distance from the median step of its
-- trace.
--
-- Length is that of the ProfilerStep annotation on the host. The first step often is warm-up;
-- is_outlier marks steps that differ from the median by more than three times the median absolute
-- deviation, scaled to be comparable with a standard deviation.
--
-- Source: step-to-step variation of PRISM's training profiler, with the median instead of the mean.
-- Example: SELECT step, host_ns, to_median_ratio, is_outlier FROM step_variation ORDER BY step
-- Range: any variation_pct; the standard deviation may be more than the mean.
-- Range: any allocated_change_bytes; less than 0 where memory shrinks.
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column step BIGINT id Number of the step.
-- @column steps BIGINT count Steps of the trace.
-- @column host_ns BIGINT ns Length of the step on the host.
-- @column median_ns DOUBLE ns Median length over the steps of the trace.
-- @column mean_ns DOUBLE ns Mean length.
-- @column stddev_ns DOUBLE ns Standard deviation of the lengths (n - 1); NULL with one step.
-- @column variation_pct DOUBLE pct stddev_ns as percent of mean_ns; NULL with one step.
-- @column to_median_ratio DOUBLE ratio host_ns by median_ns; NULL if that is 0.
-- @column is_outlier BOOLEAN flag Whether it is far from the median; false with fewer than three
--   steps.
-- @column allocated_change_bytes BIGINT bytes Allocations less frees recorded in the step, over all
--   devices; NULL without memory records.
WITH lengths AS (
    SELECT trace_id, step, max(end_ns) - min(start_ns) AS host_ns FROM steps GROUP BY trace_id, step
),
medians AS (
    SELECT
        trace_id,
        count(*) AS steps,
        median(CAST(host_ns AS DOUBLE)) AS median_ns,
        avg(host_ns) AS mean_ns,
        CASE WHEN count(*) > 1 THEN stddev_samp(CAST(host_ns AS DOUBLE)) END AS stddev_ns,
        mad(CAST(host_ns AS DOUBLE)) AS mad_ns
    FROM lengths
    GROUP BY trace_id
),
changes AS (
    SELECT trace_id, step, sum(bytes) AS bytes
    FROM memory
    WHERE step IS NOT NULL
    GROUP BY trace_id, step
)
SELECT
    l.trace_id, t.rank, l.step, m.steps, l.host_ns, m.median_ns, m.mean_ns, m.stddev_ns,
    100.0 * m.stddev_ns / nullif(m.mean_ns, 0) AS variation_pct,
    l.host_ns / nullif(m.median_ns, 0) AS to_median_ratio,
    m.steps > 2 AND abs(l.host_ns - m.median_ns) > 3 * 1.4826 * m.mad_ns AS is_outlier,
    c.bytes AS allocated_change_bytes
FROM lengths l
JOIN medians m ON m.trace_id = l.trace_id
JOIN traces t ON t.trace_id = l.trace_id
LEFT JOIN changes c ON c.trace_id = l.trace_id AND c.step = l.step
