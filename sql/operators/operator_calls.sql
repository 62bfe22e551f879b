-- Calls of operators with host time, device time and tensor core time.
--
-- One row per call. A call that is the only child of a call of the same name counts as one with it.
-- Host self time is the duration less that of the nodes (operators, modules, collectives) and of
-- the runtime calls directly inside. Device time is the sum of the kernels, copies and fills that
-- the call launched, wherever they ran; self without those of calls inside. A launch belongs to the
-- innermost operator or collective mark around it on its thread. Annotations, steps, modules, data
-- loading and optimizer steps are not operators.
--
-- Source: the rules of torch-tb-profiler 0.4.3, links by nesting instead of External id.
-- Example: SELECT name, host_self_ns FROM operator_calls ORDER BY host_self_ns DESC LIMIT 5
-- Holds: host_total_ns = end_ns - ts_ns
-- Holds: host_self_ns <= host_total_ns AND device_self_ns <= device_total_ns
-- Holds: tensor_core_total_ns <= device_total_ns AND tensor_core_self_ns <= kernel_self_ns AND
--   kernel_self_ns <= device_self_ns
-- Range: sum device_total_ns, device_self_ns, kernel_self_ns, tensor_core_total_ns,
--   tensor_core_self_ns
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column step BIGINT id Step the call begins in; NULL outside steps.
-- @column event_id BIGINT id The call (events.event_id).
-- @column track_id BIGINT id The thread (tracks.track_id).
-- @column name VARCHAR text Name of the operator.
-- @column input_shapes VARCHAR json Shapes of the inputs; [] if not recorded.
-- @column call_stack VARCHAR text Call stack as recorded; NULL if not recorded.
-- @column ts_ns BIGINT ns Start.
-- @column end_ns BIGINT ns End.
-- @column host_total_ns BIGINT ns Duration on the host.
-- @column host_self_ns BIGINT ns Duration less the nodes and runtime calls directly inside.
-- @column device_total_ns BIGINT ns Device time launched by the call and all calls inside.
-- @column device_self_ns BIGINT ns Device time launched by the call itself.
-- @column kernel_self_ns BIGINT ns The part of device_self_ns that is kernels.
-- @column tensor_core_total_ns BIGINT ns The part of device_total_ns in kernels that use tensor
--   cores.
-- @column tensor_core_self_ns BIGINT ns The part of device_self_ns in kernels that use tensor
--   cores.
-- @column tensor_core_eligible BOOLEAN flag Whether the operator, or one inside, can run on tensor
--   cores or did.
-- @column track_start_ns BIGINT ns Start of the first call on the thread.
SELECT
    h.trace_id, t.rank, h.step, h.event_id, h.track_id, h.name,
    coalesce(h.input_dims, '[]') AS input_shapes,
    nullif(h.call_stack, '') AS call_stack,
    h.ts_ns, h.end_ns,
    h.dur_ns AS host_total_ns,
    h.call_self_ns AS host_self_ns,
    h.device_total_ns,
    h.call_device_ns AS device_self_ns,
    h.call_kernel_ns AS kernel_self_ns,
    h.tensor_core_total_ns,
    h.call_tensor_core_ns AS tensor_core_self_ns,
    h.eligible_nodes > 0 AS tensor_core_eligible,
    h.track_start_ns
FROM _host_tree h
JOIN traces t ON t.trace_id = h.trace_id
WHERE h.is_listed AND h.call_id = h.event_id
