-- Memory bandwidth of copies and fills over time, as Holistic Trace Analysis 0.6.1 has it.
--
-- The bandwidth that the profiler wrote is added at the start and taken away at the end of each
-- copy or fill; one of duration 0 counts as 1 us. Kinds are the first 11 characters of names that
-- begin with Memcpy, Memset, or "Memcpy Unknown". Devices are not told apart. Changes at the same
-- microsecond are one row here, after all of them; HTA has one row for each, in no fixed order, and
-- its sums keep rests of rounding where this view has 0.
--
-- Source: get_memory_bw_time_series of HTA 0.6.1; bandwidth_over_time has exact integers by device.
-- Example: SELECT name, start_us, memory_bw_gb_s FROM hta_memory_bandwidth
--   ORDER BY rank, name, start_us LIMIT 5
-- Range: any start_us; starts are rounded up.
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column name VARCHAR text Kind of copy or fill, for example Memcpy HtoD.
-- @column start_us BIGINT us Time, on the trace's own clock.
-- @column memory_bw_gb_s DOUBLE GB/s Sum over the copies and fills that run from this time on.
-- @column changes BIGINT count Starts and ends at this time.
WITH copies AS (
    SELECT
        w.trace_id, w.start_us,
        w.start_us + CASE WHEN w.dur_us = 0 THEN 1 ELSE w.dur_us END AS end_us,
        CASE
            WHEN starts_with(w.name, 'Memset') THEN 'Memset'
            WHEN starts_with(w.name, 'Memcpy') THEN substr(w.name, 1, 11)
            ELSE 'Memcpy Unknown'
        END AS name,
        coalesce(k.bandwidth_gb_s, 0) AS gb_s
    FROM _hta_work w
    LEFT JOIN kernels k ON k.trace_id = w.trace_id AND k.event_id = w.event_id
    WHERE w.work_type = 'MEMORY'
),
changes AS (
    SELECT trace_id, name, start_us, gb_s, 1 AS open FROM copies
    UNION ALL
    SELECT trace_id, name, end_us, 0.0 - gb_s, -1 FROM copies
),
instants AS (
    SELECT
        trace_id, name, start_us,
        sum(gb_s) AS gb_s,
        sum(open) AS open,
        count(*) AS changes
    FROM changes
    GROUP BY trace_id, name, start_us
)
SELECT
    i.trace_id, t.rank, i.name, i.start_us,
    CASE WHEN running_sum(i.open) OVER over_time = 0 THEN 0.0
        ELSE running_sum(i.gb_s) OVER over_time
    END AS memory_bw_gb_s,
    i.changes
FROM instants i
JOIN traces t ON t.trace_id = i.trace_id
WINDOW over_time AS (PARTITION BY i.trace_id, i.name ORDER BY i.start_us)
