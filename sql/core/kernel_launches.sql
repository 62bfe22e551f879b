-- Device activities with the call that launched each and the operator around that call.
--
-- One row per row of kernels, linked or not: an activity without a launch keeps its row, with the
-- reason in link_reason.
--
-- Example: SELECT op_name, count(*), sum(dur_ns) FROM kernel_launches WHERE kind = 'kernel'
--   GROUP BY 1 ORDER BY 3 DESC LIMIT 5
-- Holds: dur_ns = end_ns - ts_ns
-- Holds: queue_ns = ts_ns - (launch_ts_ns + launch_dur_ns)
-- Range: any queue_ns; a device may start before the call returns, and graphs run long after.
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column event_id BIGINT id The activity (events.event_id).
-- @column kind VARCHAR text kernel, memcpy, memset or sync.
-- @column name VARCHAR text Name of the kernel or activity.
-- @column device BIGINT id Device.
-- @column stream BIGINT id Stream.
-- @column step BIGINT id Step of the launch; NULL outside steps.
-- @column ts_ns BIGINT ns Start on the device; NULL if it was not set.
-- @column dur_ns BIGINT ns Duration on the device.
-- @column end_ns BIGINT ns End on the device, exclusive; NULL if that is not known.
-- @column link VARCHAR text How the launch or operator was found: correlation, graph, flow,
--   external_id, or none.
-- @column link_reason VARCHAR text Why there is no launch: no_correlation, never_correlated or
--   launch_missing (see kernels.link_reason); NULL if there is one.
-- @column launch_id BIGINT id The runtime or driver call; NULL if not found.
-- @column launch_name VARCHAR text Its name.
-- @column launch_track_id BIGINT id The thread that it ran on.
-- @column launch_ts_ns BIGINT ns Its start.
-- @column launch_dur_ns BIGINT ns Its duration.
-- @column queue_ns BIGINT ns From the end of the call to the start on the device; negative where
--   the device starts before the call returns.
-- @column op_id BIGINT id The innermost operator around the launch; NULL for none.
-- @column op_name VARCHAR text Its name.
SELECT
    k.trace_id, k.event_id, k.kind, k.name, k.device, k.stream, k.step, k.ts_ns, k.dur_ns, k.end_ns,
    k.link, k.link_reason,
    k.launch_id,
    l.name AS launch_name,
    l.track_id AS launch_track_id,
    l.ts_ns AS launch_ts_ns,
    l.dur_ns AS launch_dur_ns,
    k.ts_ns - l.end_ns AS queue_ns,
    k.op_id, o.name AS op_name
FROM kernels k
LEFT JOIN events l ON l.trace_id = k.trace_id AND l.event_id = k.launch_id
LEFT JOIN events o ON o.trace_id = k.trace_id AND o.event_id = k.op_id
