-- Operations of perf.json by name: calls and time of each.
--
-- Times in the unit of mllm_time_unit_ns (us unless set). Operations that overlap each count in
-- full.
--
-- Example: SELECT name, calls, total FROM mllm_operation_totals ORDER BY total_ns DESC LIMIT 5
-- Holds: abs(sum(total_pct) OVER (PARTITION BY trace_id) - 100) < 0.000001
-- Holds: min_ns <= max_ns AND max_ns <= total_ns
-- Range: sum total_ns
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column name VARCHAR text Name of the operation.
-- @column device_name VARCHAR text Device as written; NULL if not recorded.
-- @column calls BIGINT count How often it ran.
-- @column total DOUBLE number Sum of durations, in the unit of mllm_time_unit_ns.
-- @column mean DOUBLE number Mean duration, in that unit.
-- @column total_ns BIGINT ns Sum of durations.
-- @column min_ns BIGINT ns Shortest duration.
-- @column max_ns BIGINT ns Longest duration.
-- @column total_pct DOUBLE pct total_ns as percent of the sum over all operations of the trace;
--   NULL if that is 0.
SELECT
    trace_id, name, device_name,
    count(*) AS calls,
    sum(duration) AS total,
    avg(duration) AS mean,
    sum(end_ns - start_ns) AS total_ns,
    min(end_ns - start_ns) AS min_ns,
    max(end_ns - start_ns) AS max_ns,
    100.0
        * sum(end_ns - start_ns)
        / nullif(sum(sum(end_ns - start_ns)) OVER (PARTITION BY trace_id), 0) AS total_pct
FROM mllm_operations
GROUP BY trace_id, name, device_name
