-- Events that have a duration, with the names of their process and thread and the rank of their
-- trace.
--
-- One row per complete event, and per begin event that has its end. Events with a duration below 0
-- are left out; ingest_issues counts them. Device activities are rows too; kernel_launches has more
-- columns for them.
--
-- Example: SELECT name, dur_ns FROM named_events WHERE thread_name LIKE '%pt_autograd%'
--   ORDER BY dur_ns DESC LIMIT 5
-- Holds: dur_ns = end_ns - ts_ns
-- Holds: self_ns <= dur_ns
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the process in the job; NULL if not recorded.
-- @column event_id BIGINT id The event (events.event_id).
-- @column track_id BIGINT id The track (tracks.track_id).
-- @column track_kind VARCHAR text cpu_thread, gpu_stream, span or other.
-- @column process_name VARCHAR text Name of the process; NULL if not recorded.
-- @column thread_name VARCHAR text Name of the thread or stream; NULL if not recorded.
-- @column device BIGINT id Device of a gpu_stream; NULL for host threads.
-- @column stream BIGINT id Stream of a gpu_stream; NULL for host threads.
-- @column cat VARCHAR text Category as written.
-- @column name VARCHAR text Name.
-- @column ts_ns BIGINT ns Start.
-- @column dur_ns BIGINT ns Duration.
-- @column end_ns BIGINT ns End, exclusive.
-- @column self_ns BIGINT ns Duration less the union of the direct children.
-- @column depth BIGINT count Number of enclosing events on the track.
-- @column parent_id BIGINT id Innermost enclosing event on the track; NULL for none.
-- @column step BIGINT id Step of the event; NULL outside steps.
SELECT
    e.trace_id, t.rank, e.event_id, e.track_id,
    k.kind AS track_kind,
    k.process_name, k.thread_name, k.device, k.stream,
    e.cat, e.name, e.ts_ns, e.dur_ns, e.end_ns, e.self_ns, e.depth, e.parent_id, e.step
FROM events e
JOIN traces t ON t.trace_id = e.trace_id
JOIN tracks k ON k.trace_id = e.trace_id AND k.track_id = e.track_id
WHERE e.dur_ns >= 0
