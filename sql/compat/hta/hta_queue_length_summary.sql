-- Lengths of launch queues by stream over the changes, and time with a full queue, as Holistic
-- Trace Analysis 0.6.1 has them.
--
-- The figures are over changes, however long each length lasted. HTA puts launches and starts of
-- the same microsecond in no fixed order, so that its figures can differ by some percent;
-- queue_length_summary weights by time. full_us is the time at lengths of at least
-- hta_max_queue_length; HTA keeps it for one stream of each rank only. CUDA shows at most 1022, so
-- that its default of 1024 is never reached.
--
-- Source: get_queue_length_summary and get_time_spent_blocked_on_full_queue of HTA 0.6.1.
-- Example: SELECT rank, stream, points, mean_length, max_length FROM hta_queue_length_summary
-- Holds: min_length <= mean_length AND mean_length <= max_length
-- Range: any min_length, mean_length, p25_length, p50_length, p75_length, max_length; work can
--   begin before its call in whole microseconds.
-- Range: any stddev_length, full_us; a deviation has no bound, and HTA also counts work whose time
--   was not set.
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column stream BIGINT id Stream.
-- @column points BIGINT count Number of changes.
-- @column mean_length DOUBLE count Mean over the changes.
-- @column stddev_length DOUBLE count Standard deviation of a sample.
-- @column min_length BIGINT count Smallest length.
-- @column p25_length DOUBLE count First quartile.
-- @column p50_length DOUBLE count Median.
-- @column p75_length DOUBLE count Third quartile.
-- @column max_length BIGINT count Largest length.
-- @column full_us BIGINT us Time at lengths of at least hta_max_queue_length.
SELECT
    trace_id, rank, stream,
    count(*) AS points,
    avg(queue_length) AS mean_length,
    stddev_samp(CAST(queue_length AS DOUBLE)) AS stddev_length,
    min(queue_length) AS min_length,
    quantile(queue_length, 0.25) AS p25_length,
    quantile(queue_length, 0.5) AS p50_length,
    quantile(queue_length, 0.75) AS p75_length,
    max(queue_length) AS max_length,
    coalesce(
        sum(length_us) FILTER (WHERE queue_length >= setting_int('hta_max_queue_length')), 0
    ) AS full_us
FROM hta_queue_length
GROUP BY trace_id, rank, stream
