-- Duration of annotations by name, on the host or on devices, as Holistic Trace Analysis 0.6.1 has
-- it.
--
-- Rows are those that HTA keeps: whole microseconds, without the last step. HTA folds names beyond
-- 1,000; this view does not.
--
-- Source: get_gpu_user_annotation_breakdown of HTA 0.6.1, with use_gpu_annotation for devices and
--   without for the host; regions and gpu_annotations have exact times and device work.
-- Example: SELECT place, name, sum_us FROM hta_user_annotations ORDER BY sum_us DESC LIMIT 5
-- Holds: min_us <= mean_us AND mean_us <= max_us
-- Range: any sum_us, min_us, mean_us, max_us; an event below 1 us can have -1.
-- Range: any stddev_us; a deviation has no bound.
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column place VARCHAR text host (user_annotation) or device (gpu_user_annotation).
-- @column name VARCHAR text Name of the annotation.
-- @column sum_us BIGINT us Sum of durations.
-- @column max_us BIGINT us The longest.
-- @column min_us BIGINT us The shortest.
-- @column stddev_us DOUBLE us Standard deviation of a sample; 0 for a single row.
-- @column mean_us DOUBLE us Mean.
SELECT
    r.trace_id, t.rank,
    CASE WHEN r.cat = 'user_annotation' THEN 'host' ELSE 'device' END AS place,
    r.name,
    sum(r.dur_us) AS sum_us,
    max(r.dur_us) AS max_us,
    min(r.dur_us) AS min_us,
    coalesce(stddev_samp(CAST(r.dur_us AS DOUBLE)), 0) AS stddev_us,
    avg(r.dur_us) AS mean_us
FROM _hta_rows r
JOIN traces t ON t.trace_id = r.trace_id
WHERE r.cat IN ('user_annotation', 'gpu_user_annotation')
GROUP BY r.trace_id, t.rank, r.cat, r.name
