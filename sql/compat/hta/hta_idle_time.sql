-- Idle time between device work of each stream by its reason, as Holistic Trace Analysis 0.6.1 has
-- it.
--
-- A gap lasts from the end of the previous row on the stream to the start of the row; it is
-- negative where rows of a stream overlap. It is host_wait if the launch call began after that end,
-- else kernel_wait if it is shorter than the setting hta_kernel_delay_us, else other. The first row
-- of a stream has no gap and counts as other, with 0. HTA takes the first element of the file for
-- the call of work that has none, and so does this view. Streams are told apart by their number,
-- not by device. Rows are those that HTA keeps: whole microseconds, without the last step.
--
-- Source: get_idle_time_breakdown of HTA 0.6.1 with show_idle_interval_stats; gpu_idle_causes
--   divides the idle time of a device among six causes that add up.
-- Example: SELECT rank, stream, idle_category, idle_time_us, idle_time_ratio FROM hta_idle_time
--   ORDER BY rank, stream, idle_category
-- Range: any idle_time_us, idle_time_ratio, mean_us, min_us, p25_us, p50_us, p75_us, max_us; gaps
--   are negative where rows of a stream overlap.
-- Range: any stddev_us; a deviation has no bound.
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column stream BIGINT id Stream.
-- @column idle_category VARCHAR text host_wait, kernel_wait or other.
-- @column idle_time_us BIGINT us Sum of the gaps.
-- @column idle_time_ratio DOUBLE ratio The same as share of the stream's gaps; NULL if these add up
--   to 0. HTA rounds it to two decimals.
-- @column gaps BIGINT count Number of gaps.
-- @column mean_us DOUBLE us Mean gap; NULL without any.
-- @column stddev_us DOUBLE us Standard deviation of a sample; NULL for fewer than two gaps.
-- @column min_us BIGINT us The shortest gap.
-- @column p25_us DOUBLE us First quartile.
-- @column p50_us DOUBLE us Median.
-- @column p75_us DOUBLE us Third quartile.
-- @column max_us BIGINT us The longest gap.
WITH first_rows AS (
    SELECT trace_id, start_us FROM _hta_rows WHERE event_id = 0
),
gaps AS (
    SELECT
        w.trace_id, w.stream,
        CASE
            WHEN w.launch_id IS NOT NULL THEN w.launch_start_us
            WHEN w.correlation IS NOT NULL THEN f.start_us
        END AS launch_start_us,
        lag(w.end_us) OVER on_stream AS previous_end_us,
        w.start_us - lag(w.end_us) OVER on_stream AS gap_us
    FROM _hta_work w
    LEFT JOIN first_rows f ON f.trace_id = w.trace_id
    WHERE w.cat IN (
        'kernel', 'Kernel', 'gpu_memset', 'Memset', 'gpu_memcpy', 'Memcpy', 'mtia_ccp_events'
    )
    WINDOW on_stream AS (PARTITION BY w.trace_id, w.stream ORDER BY w.start_us, w.event_id)
),
placed AS (
    SELECT
        trace_id, stream, gap_us,
        CASE
            WHEN launch_start_us > previous_end_us THEN 'host_wait'
            WHEN gap_us < setting_int('hta_kernel_delay_us') THEN 'kernel_wait'
            ELSE 'other'
        END AS idle_category
    FROM gaps
),
sums AS (
    SELECT
        trace_id, stream, idle_category,
        coalesce(sum(gap_us), 0) AS idle_us,
        count(gap_us) AS gaps,
        avg(gap_us) AS mean_us,
        stddev_samp(CAST(gap_us AS DOUBLE)) AS stddev_us,
        min(gap_us) AS min_us,
        quantile(gap_us, 0.25) AS p25_us,
        quantile(gap_us, 0.5) AS p50_us,
        quantile(gap_us, 0.75) AS p75_us,
        max(gap_us) AS max_us
    FROM placed
    GROUP BY trace_id, stream, idle_category
)
SELECT
    s.trace_id, t.rank, s.stream, s.idle_category,
    s.idle_us AS idle_time_us,
    CAST(s.idle_us AS DOUBLE)
        / nullif(sum(s.idle_us) OVER (PARTITION BY s.trace_id, s.stream), 0) AS idle_time_ratio,
    s.gaps, s.mean_us, s.stddev_us, s.min_us, s.p25_us, s.p50_us, s.p75_us, s.max_us
FROM sums s
JOIN traces t ON t.trace_id = s.trace_id
