-- Hardware counters of kernels by operator: sum, mean and bounds of each counter.
--
-- Counters are those of kernel_counters, which also states how ranges are paired with launches:
-- ranges_by_time counts the ranges for which that is uncertain. The row without an operator has the
-- ranges whose launch lies in none or was not found.
--
-- Source: get_cupti_counter_data_with_operators of Holistic Trace Analysis, which lists kernels.
-- Example: SELECT op_name, counter, total FROM counters_by_operator ORDER BY total DESC LIMIT 5
-- Holds: min_value <= max_value AND ranges_by_time <= ranges
-- Range: any total, mean_value, min_value, max_value, flop; counters count anything.
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column op_name VARCHAR text The innermost operator around the launch; NULL for none.
-- @column counter VARCHAR text Name of the counter.
-- @column ranges BIGINT count Ranges that have it.
-- @column ranges_by_time BIGINT count Those that time alone pairs with a launch.
-- @column total DOUBLE number Sum of the values.
-- @column mean_value DOUBLE number Mean over the ranges.
-- @column min_value DOUBLE number Smallest value.
-- @column max_value DOUBLE number Largest value.
-- @column flop DOUBLE flop Floating point operations that they stand for; NULL for other counters.
SELECT
    trace_id, rank, op_name, counter,
    count(*) AS ranges,
    count(*) FILTER (WHERE match = 'time') AS ranges_by_time,
    sum(value) AS total,
    avg(value) AS mean_value,
    min(value) AS min_value,
    max(value) AS max_value,
    sum(flop) AS flop
FROM kernel_counters
GROUP BY trace_id, rank, op_name, counter
