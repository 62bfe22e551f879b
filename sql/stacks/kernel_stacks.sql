-- The stack that launched each device activity, the activity itself as last frame.
--
-- The stack is that of the call that launched the activity (`kernels.launch_id`), else of the
-- operator that its External id names. Where the trace has neither, it is the frame `(launch not in
-- trace)` alone, so that all device time stays visible. Waits (`kind` sync) are left out: a device
-- does nothing in them.
-- Activities of different streams overlap; dur_ns adds them up and is not busy time.
--
-- Source: launch links of `kernels`.
-- Example: SELECT stack_root(stack) AS root, sum(dur_ns) AS gpu_ns FROM kernel_stacks GROUP BY 1
--   ORDER BY 2 DESC
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column event_id BIGINT id The device activity.
-- @column kind VARCHAR text kernel, memcpy or memset.
-- @column name VARCHAR text Name, the last frame.
-- @column device BIGINT id Device.
-- @column stream BIGINT id Stream.
-- @column step BIGINT id Step of the launch; NULL outside of steps.
-- @column track_id BIGINT id Thread of the launch; NULL without a launch.
-- @column dur_ns BIGINT ns Duration.
-- @column stack VARCHAR[] list Frames, root first.
SELECT
  k.trace_id, k.event_id, k.kind, k.name, k.device, k.stream, k.step, s.track_id, k.dur_ns,
  stack_concat(coalesce(s.stack, ['(launch not in trace)']), coalesce(k.name, '(no name)')) AS stack
FROM kernels k
LEFT JOIN event_stacks s ON s.trace_id = k.trace_id AND s.event_id = coalesce(k.launch_id, k.op_id)
WHERE k.kind <> 'sync'
