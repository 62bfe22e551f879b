-- Calls of operators with host time, device time and tensor core time.
--
-- One row per call. A call that is the only child of a call of the same name counts as one with it. Host self time is the duration less that of
-- the nodes (operators, modules, collectives) and of the runtime calls directly inside. Device time is the sum of the kernels, copies and fills
-- that the call launched, wherever they ran; self without those of calls inside. A launch belongs to the innermost operator or collective mark
-- around it on its thread. Annotations, steps, modules, data loading and optimizer steps are no operators.
--
-- Source: the rules of torch-tb-profiler 0.4.3, links by nesting instead of External id.
-- Example: SELECT name, host_self_ns FROM operator_calls ORDER BY host_self_ns DESC LIMIT 5
--
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column step BIGINT id Step the call begins in; NULL outside steps.
-- @column event_id BIGINT id The call (events.event_id).
-- @column track_id BIGINT id The thread (tracks.track_id).
-- @column name VARCHAR text Name of the operator.
-- @column input_shapes VARCHAR json Shapes of the inputs; [] if not recorded.
-- @column call_stack VARCHAR text Call stack as recorded; NULL if there is none.
-- @column ts_ns BIGINT ns Start.
-- @column host_total_ns BIGINT ns Duration on the host.
-- @column host_self_ns BIGINT ns Duration less the nodes and runtime calls directly inside.
-- @column device_total_ns BIGINT ns Device time launched by the call and all calls inside.
-- @column device_self_ns BIGINT ns Device time launched by the call itself.
-- @column kernel_self_ns BIGINT ns The part of device_self_ns that is kernels.
-- @column tensor_core_total_ns BIGINT ns The part of device_total_ns in kernels that use tensor cores.
-- @column tensor_core_self_ns BIGINT ns The part of device_self_ns in kernels that use tensor cores.
-- @column tensor_core_eligible BOOLEAN flag Whether the operator, or one inside, can run on tensor cores or did.
-- @column post_order BIGINT id Number of the call within its thread in the order in which calls end, inner ones first.
WITH calls AS (
    SELECT
        trace_id, call_id,
        sum(dur_ns - children_ns - launches_ns) AS host_self_ns,
        sum(device_ns) AS device_self_ns,
        sum(kernel_ns) AS kernel_self_ns,
        sum(tensor_core_ns) AS tensor_core_self_ns
    FROM _host_tree
    GROUP BY trace_id, call_id
)
SELECT
    n.trace_id, t.rank, n.step, n.event_id, n.track_id, n.name,
    coalesce(n.input_dims, '[]') AS input_shapes,
    nullif(n.call_stack, '') AS call_stack,
    n.ts_ns,
    n.dur_ns AS host_total_ns,
    c.host_self_ns,
    n.device_total_ns,
    c.device_self_ns,
    c.kernel_self_ns,
    n.tensor_core_total_ns,
    c.tensor_core_self_ns,
    n.eligible_nodes > 0 AS tensor_core_eligible,
    CAST(row_number() OVER (PARTITION BY n.trace_id, n.track_id ORDER BY n.post, n.pre DESC) AS BIGINT) AS post_order
FROM _host_tree n
JOIN calls c ON c.trace_id = n.trace_id AND c.call_id = n.event_id
JOIN traces t ON t.trace_id = n.trace_id
WHERE n.in_table
