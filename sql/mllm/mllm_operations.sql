-- Operations of perf.json: time and the lane in which each is drawn.
--
-- Lanes are by first fit over all operations of the trace. Times in the unit of mllm_time_unit_ns
-- (us unless set).
--
-- Source: the MLLM performance viewer.
-- Example: SELECT lane, name, start_time, duration FROM mllm_operations ORDER BY lane, start_time
--   LIMIT 5
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column event_id BIGINT id Position in the file (events.event_id).
-- @column name VARCHAR text Name of the operation.
-- @column device_name VARCHAR text Device as written; NULL if not recorded.
-- @column start_time DOUBLE number Start since init_time, in the unit of mllm_time_unit_ns.
-- @column end_time DOUBLE number End since init_time, in that unit.
-- @column duration DOUBLE number end_time - start_time.
-- @column start_ns BIGINT ns Start.
-- @column end_ns BIGINT ns End.
-- @column lane BIGINT number Lane, from 0.
SELECT
    e.trace_id, e.event_id, e.name, e.args ->> 'device_type' AS device_name,
    CAST(e.ts_ns AS DOUBLE) / setting('mllm_time_unit_ns') AS start_time,
    CAST(e.end_ns AS DOUBLE) / setting('mllm_time_unit_ns') AS end_time,
    CAST(e.dur_ns AS DOUBLE) / setting('mllm_time_unit_ns') AS duration,
    e.ts_ns AS start_ns, e.end_ns,
    lane(e.ts_ns, e.end_ns) OVER (PARTITION BY e.trace_id ORDER BY e.ts_ns, e.event_id) AS lane
FROM events e
JOIN traces t ON t.trace_id = e.trace_id
WHERE t.format = 'mllm_perf' AND e.cat = 'op_blob' AND e.dur_ns IS NOT NULL
