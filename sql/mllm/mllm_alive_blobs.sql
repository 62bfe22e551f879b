-- Blobs of perf.json that were not freed before the recording ended, the largest of each trace
-- first.
--
-- Example: SELECT uuid, device_name, bytes, start_ns FROM mllm_alive_blobs ORDER BY position
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column position BIGINT number Rank by size, from 1.
-- @column event_id BIGINT id Position of the blob in the file (events.event_id).
-- @column uuid BIGINT id The blob's uuid.
-- @column device_name VARCHAR text Device as written.
-- @column bytes BIGINT bytes Size.
-- @column start_ns BIGINT ns Start.
-- @column held_ns BIGINT ns From then to the end of the recording.
SELECT
    trace_id,
    CAST(
        row_number() OVER (PARTITION BY trace_id ORDER BY bytes DESC, start_ns, event_id) AS BIGINT
    ) AS position,
    event_id, uuid, device_name, bytes, start_ns, end_ns - start_ns AS held_ns
FROM _mllm_blobs
WHERE is_alive
