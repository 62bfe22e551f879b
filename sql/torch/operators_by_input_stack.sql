-- Operators by name, input shapes and call stack: calls, host time, device time and tensor core use.
--
-- One row per trace and name, input shapes and call stack; see operator_calls for what counts. Totals count an operator inside another of the same name twice.
-- Calls without a recorded call stack are left out.
--
-- Source: the operator table of torch-tb-profiler 0.4.3; equal to it to the nanosecond where links are by nesting.
-- Example: SELECT name, calls, device_self_ns FROM operators_by_input_stack ORDER BY device_self_ns DESC LIMIT 5
--
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column name VARCHAR text Name of the operator.
-- @column input_shapes VARCHAR json Shapes of the inputs; [] if not recorded, NULL for the unattributed row.
-- @column call_stack VARCHAR text Call stack as recorded.
-- @column calls BIGINT count Number of calls.
-- @column host_total_ns BIGINT ns Sum of the calls' durations on the host.
-- @column host_self_ns BIGINT ns The same without the nodes and runtime calls directly inside each call.
-- @column host_self_pct DOUBLE pct host_self_ns as percent of the sum over all rows of the trace.
-- @column device_total_ns BIGINT ns Device time launched by the calls and all calls inside.
-- @column device_self_ns BIGINT ns Device time launched by the calls themselves.
-- @column device_self_pct DOUBLE pct device_self_ns as percent of all device time of the trace; NULL if there is none.
-- @column tensor_core_eligible BOOLEAN flag Whether the first call can run, or ran, on tensor cores.
-- @column tensor_core_total_ns BIGINT ns The part of device_total_ns in kernels that use tensor cores.
-- @column tensor_core_self_ns BIGINT ns The part of device_self_ns in kernels that use tensor cores.
-- @column tensor_core_total_pct DOUBLE pct tensor_core_total_ns as percent of device_total_ns; NULL if that is 0.
-- @column tensor_core_self_pct DOUBLE pct tensor_core_self_ns as percent of device_self_ns; NULL if that is 0.
WITH sums AS (
    SELECT c.trace_id, sum(c.host_self_ns) AS host_self_ns, sum(c.device_self_ns) + coalesce(max(r.device_ns), 0) AS device_self_ns
    FROM operator_calls c
    LEFT JOIN _device_rest r ON r.trace_id = c.trace_id
    GROUP BY c.trace_id
),
grouped AS (
    SELECT
        c.trace_id, c.rank, c.name, c.input_shapes, c.call_stack,
        count(*) AS calls,
        sum(c.host_total_ns) AS host_total_ns,
        sum(c.host_self_ns) AS host_self_ns,
        sum(c.device_total_ns) AS device_total_ns,
        sum(c.device_self_ns) AS device_self_ns,
        first_value(c.tensor_core_eligible ORDER BY o.thread_order, c.post_order) AS tensor_core_eligible,
        sum(c.tensor_core_total_ns) AS tensor_core_total_ns,
        sum(c.tensor_core_self_ns) AS tensor_core_self_ns
    FROM operator_calls c
    JOIN _thread_order o ON o.trace_id = c.trace_id AND o.track_id = c.track_id
    WHERE c.call_stack IS NOT NULL
    GROUP BY c.trace_id, c.rank, c.name, c.input_shapes, c.call_stack
)
SELECT
    g.trace_id, g.rank, g.name, g.input_shapes, g.call_stack, g.calls, g.host_total_ns, g.host_self_ns,
    100.0 * g.host_self_ns / nullif(s.host_self_ns, 0) AS host_self_pct,
    g.device_total_ns, g.device_self_ns,
    100.0 * g.device_self_ns / nullif(s.device_self_ns, 0) AS device_self_pct,
    g.tensor_core_eligible, g.tensor_core_total_ns, g.tensor_core_self_ns,
    100.0 * g.tensor_core_total_ns / nullif(g.device_total_ns, 0) AS tensor_core_total_pct,
    100.0 * g.tensor_core_self_ns / nullif(g.device_self_ns, 0) AS tensor_core_self_pct
FROM grouped g
JOIN sums s ON s.trace_id = g.trace_id
