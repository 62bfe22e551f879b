-- Rate of copies and fills over time, for each device and direction: one row per change.
--
-- The rate of a copy is its size by its duration, in whole bytes per second, for as long as it
-- runs. Rates of copies that run side by side add up. They are integers, so that a rate of 0 means
-- that nothing runs. Copies of unknown size or of duration 0 are left out; bandwidth_summary counts
-- them.
--
-- Source: get_memory_bw_time_series of Holistic Trace Analysis; hta_memory_bandwidth has its own
--   numbers.
-- Example: SELECT device, direction, ts_ns, bytes_per_s FROM bandwidth_over_time
--   ORDER BY bytes_per_s DESC LIMIT 5
-- Holds: copies > 0 OR bytes_per_s = 0
-- Holds: bytes_per_s >= 0
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column device BIGINT id Device; NULL where none was written.
-- @column direction VARCHAR text HtoD, DtoH, DtoD, PtoP, HtoH or other; Memset for fills.
-- @column ts_ns BIGINT ns Time of the change.
-- @column length_ns BIGINT ns Time to the next change; NULL for the last one.
-- @column copies BIGINT count Copies or fills that run.
-- @column bytes_per_s BIGINT count Sum of their rates, bytes per second.
WITH changes AS (
    SELECT trace_id, device, direction, ts_ns, 1 AS copies, bytes_per_s
    FROM _device_copies
    WHERE bytes_per_s IS NOT NULL
    UNION ALL
    SELECT trace_id, device, direction, end_ns, -1, 0 - bytes_per_s
    FROM _device_copies
    WHERE bytes_per_s IS NOT NULL
),
instants AS (
    SELECT
        trace_id, device, direction, ts_ns,
        sum(copies) AS copies,
        sum(bytes_per_s) AS bytes_per_s
    FROM changes
    GROUP BY trace_id, device, direction, ts_ns
)
SELECT
    i.trace_id, t.rank, i.device, i.direction, i.ts_ns,
    lead(i.ts_ns) OVER over_time - i.ts_ns AS length_ns,
    running_sum(i.copies) OVER over_time AS copies,
    running_sum(i.bytes_per_s) OVER over_time AS bytes_per_s
FROM instants i
JOIN traces t ON t.trace_id = i.trace_id
WINDOW over_time AS (PARTITION BY i.trace_id, i.device, i.direction ORDER BY i.ts_ns)
