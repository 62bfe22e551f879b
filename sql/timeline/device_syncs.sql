-- Calls in which the host waits for the device: synchronisations and blocking copies, with the
-- operator and Python frame they come from.
--
-- Calls that always wait are synchronisations of device, stream, event or context and plain (not
-- Async) copies (sync_call in name_rules). An asynchronous copy waits if the host's memory is
-- pageable, as its device activity says: on the way to the host always, on the way to the device
-- where it has more than 64 KiB and the call returned only after the copy had ended. Tiny copies to
-- the host are what item(), bool() or a print of a tensor do: at most tiny_copy_bytes. Times are of
-- the calls on the host; a call within another one counts in the outer one only. python_frame skips
-- frames that a user cannot change: those of PyTorch and of Python itself (python_frame in
-- name_rules).
--
-- Example: SELECT name, op_name, python_frame, calls, total_ns, tiny_copies FROM device_syncs
--   ORDER BY total_ns DESC LIMIT 5
-- Holds: max_ns <= total_ns
-- Range: sum total_ns
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column kind VARCHAR text sync, copy, or tiny_copy for copies of a few bytes to the host.
-- @column name VARCHAR text Name of the runtime or driver call.
-- @column op_name VARCHAR text The innermost operator around it; NULL for none.
-- @column outer_op_name VARCHAR text The outermost operator around it, for example aten::item; NULL
--   for none.
-- @column python_frame VARCHAR text The innermost frame around it in a file of the user or of a
--   library other than PyTorch; NULL for none or without stacks.
-- @column calls BIGINT count Number of calls.
-- @column steps BIGINT count Steps in which they are.
-- @column total_ns BIGINT ns Sum of their durations.
-- @column max_ns BIGINT ns The longest.
-- @column copied_bytes BIGINT bytes Bytes copied; NULL for none.
-- @column tiny_copies BIGINT count Copies to the host of at most tiny_copy_bytes among them.
SELECT
    s.trace_id, t.rank, s.kind, s.name, s.op_name, s.outer_op_name, s.python_frame,
    count(*) AS calls,
    count(DISTINCT s.step) AS steps,
    sum(s.dur_ns) AS total_ns,
    max(s.dur_ns) AS max_ns,
    sum(s.bytes) AS copied_bytes,
    count(*) FILTER (WHERE s.is_tiny) AS tiny_copies
FROM _device_syncs s
JOIN traces t ON t.trace_id = s.trace_id
GROUP BY s.trace_id, t.rank, s.kind, s.name, s.op_name, s.outer_op_name, s.python_frame
