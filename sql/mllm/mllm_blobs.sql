-- Memory blobs of perf.json: lifetime, size and the lane in which each is drawn.
--
-- A blob that is still there at the end (end_time 0 in the file) lasts to the end of the recording.
-- Lanes are by first fit over all blobs of the trace, in the order of their starts: a blob takes
-- the first lane that is free. Times in the unit of mllm_time_unit_ns (us unless set).
--
-- Source: the MLLM performance viewer, without its confusion of us with ns.
-- Example: SELECT lane, uuid, start_time, end_time, bytes FROM mllm_blobs ORDER BY lane, start_time
--   LIMIT 5
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column event_id BIGINT id Position of the blob in the file (events.event_id).
-- @column uuid BIGINT id The blob's uuid.
-- @column device_name VARCHAR text Device as written.
-- @column bytes BIGINT bytes Size.
-- @column start_time DOUBLE number Start since init_time, in the unit of mllm_time_unit_ns.
-- @column end_time DOUBLE number End since init_time, in that unit.
-- @column lifetime DOUBLE number end_time - start_time.
-- @column start_ns BIGINT ns Start.
-- @column end_ns BIGINT ns End.
-- @column is_alive BOOLEAN flag Whether it was not freed before the recording ended.
-- @column is_at_peak BOOLEAN flag Whether it was allocated when its device reached its peak.
-- @column lane BIGINT number Lane, from 0.
-- @column name VARCHAR text What the bar is called.
SELECT
    trace_id, event_id, uuid, device_name, bytes,
    CAST(start_ns AS DOUBLE) / setting('mllm_time_unit_ns') AS start_time,
    CAST(end_ns AS DOUBLE) / setting('mllm_time_unit_ns') AS end_time,
    CAST(end_ns - start_ns AS DOUBLE) / setting('mllm_time_unit_ns') AS lifetime,
    start_ns, end_ns, is_alive, is_at_peak,
    lane(start_ns, end_ns) OVER (PARTITION BY trace_id ORDER BY start_ns, event_id) AS lane,
    concat('Memory ', uuid) AS name
FROM _mllm_blobs
