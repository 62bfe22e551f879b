-- The table of operators, by name and on request also by input shapes and by call stack. Only the
-- views without call stacks have a rest: a row for device work that no operator launched.
-- @expand operators by="name" keys="name" rest unattributed="'(unattributed)'"
-- @expand operators_by_input by="name and input shapes" keys="name, input_shapes"
--   rest unattributed="'(unattributed)', NULL" shapes parts_of_operators
-- @expand operators_by_stack by="name and call stack" keys="name, call_stack" stacks
-- @expand operators_by_input_stack by="name, input shapes and call stack"
--   keys="name, input_shapes, call_stack" shapes stacks parts_of_stacks
--
-- Operators by {by}: calls, host time, device time and tensor core use.
--
-- One row per trace and {by}; operator_calls says what counts as a call.
-- Totals count an operator inside another one of the same name twice.
-- @if stacks
-- Calls without a recorded call stack are left out.
-- @else
-- The row (unattributed) is the device time that no operator launched: its launch is missing or
-- lies outside operators.
-- @end
--
-- Source: the operator table of torch-tb-profiler 0.4.3; equal to it to the nanosecond where links
--   are by nesting.
-- Example: SELECT name, calls, device_self_ns FROM {view}
--   ORDER BY device_self_ns DESC LIMIT 5
-- Holds: host_self_ns <= host_total_ns AND device_self_ns <= device_total_ns
-- Holds: tensor_core_total_ns <= device_total_ns AND tensor_core_self_ns <= device_self_ns
-- @if rest
-- Holds: abs(sum(host_self_pct) OVER (PARTITION BY trace_id) - 100) < 0.000001
-- @end
-- @if parts_of_operators
-- Parts: host_total_ns BY trace_id, name OF operators.host_total_ns
-- Parts: host_self_ns BY trace_id, name OF operators.host_self_ns
-- Parts: device_total_ns BY trace_id, name OF operators.device_total_ns
-- Parts: device_self_ns BY trace_id, name OF operators.device_self_ns
-- Parts: calls BY trace_id, name OF operators.calls
-- @end
-- @if parts_of_stacks
-- Parts: host_self_ns BY trace_id, name OF operators_by_stack.host_self_ns
-- Parts: device_self_ns BY trace_id, name OF operators_by_stack.device_self_ns
-- @end
-- Range: sum host_total_ns, host_self_ns, device_total_ns, device_self_ns, tensor_core_total_ns,
--   tensor_core_self_ns
-- @if rest
-- Holds: abs(sum(device_self_pct) OVER (PARTITION BY trace_id) - 100) < 0.000001
-- @end
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column name VARCHAR text Name of the operator.
-- @if shapes
-- @column input_shapes VARCHAR json Shapes of the inputs; [] if not recorded, NULL for the
--   unattributed row.
-- @end
-- @if stacks
-- @column call_stack VARCHAR text Call stack as recorded.
-- @end
-- @column calls BIGINT count Number of calls.
-- @column host_total_ns BIGINT ns Sum of the calls' durations on the host.
-- @column host_self_ns BIGINT ns The same without the nodes and runtime calls directly inside each
--   call.
-- @if stacks
-- @column host_self_pct DOUBLE pct host_self_ns as percent of the sum over all operators of the
--   trace, with or without a call stack.
-- @else
-- @column host_self_pct DOUBLE pct host_self_ns as percent of the sum over all rows of the trace.
-- @end
-- @column device_total_ns BIGINT ns Device time launched by the calls and all calls inside.
-- @column device_self_ns BIGINT ns Device time launched by the calls themselves.
-- @if stacks
-- @column device_self_pct DOUBLE pct device_self_ns as percent of the sum over all operators of the
--   trace; NULL if that is 0.
-- @else
-- @column device_self_pct DOUBLE pct device_self_ns as percent of all device time of the trace;
--   NULL if the trace has no device time.
-- @end
-- @column tensor_core_eligible BOOLEAN flag Whether the first call can run, or ran, on tensor
--   cores.
-- @column tensor_core_total_ns BIGINT ns The part of device_total_ns in kernels that use tensor
--   cores.
-- @column tensor_core_self_ns BIGINT ns The part of device_self_ns in kernels that use tensor
--   cores.
-- @column tensor_core_total_pct DOUBLE pct tensor_core_total_ns as percent of device_total_ns; NULL
--   if that is 0.
-- @column tensor_core_self_pct DOUBLE pct tensor_core_self_ns as percent of device_self_ns; NULL if
--   that is 0.
WITH by_track AS (
    SELECT
        trace_id, rank, track_start_ns, track_id, {keys},
        count(*) AS calls,
        sum(host_total_ns) AS host_total_ns,
        sum(host_self_ns) AS host_self_ns,
        sum(device_total_ns) AS device_total_ns,
        sum(device_self_ns) AS device_self_ns,
        coalesce(
            min(end_ns) FILTER (WHERE tensor_core_eligible)
                < min(end_ns) FILTER (WHERE NOT tensor_core_eligible),
            bool_or(tensor_core_eligible)
        ) AS tensor_core_eligible,
        sum(tensor_core_total_ns) AS tensor_core_total_ns,
        sum(tensor_core_self_ns) AS tensor_core_self_ns
    FROM operator_calls
    GROUP BY trace_id, rank, track_start_ns, track_id, {keys}
-- @if rest
    UNION ALL
    SELECT
        d.trace_id, t.rank, 0, 0, {unattributed}, 0, 0, 0, 0, sum(d.dur_ns), false, 0,
        sum(CASE WHEN d.uses_tensor_cores THEN d.dur_ns ELSE 0 END)
    FROM _device_work d
    JOIN traces t ON t.trace_id = d.trace_id
    GROUP BY d.trace_id, t.rank
-- @end
),
grouped AS (
    SELECT
        trace_id, rank, {keys},
        sum(calls) AS calls,
        sum(host_total_ns) AS host_total_ns,
        sum(host_self_ns) AS host_self_ns,
        sum(device_total_ns) AS device_total_ns,
        sum(device_self_ns) AS device_self_ns,
        first_value(tensor_core_eligible ORDER BY track_start_ns, track_id)
            AS tensor_core_eligible,
        sum(tensor_core_total_ns) AS tensor_core_total_ns,
        sum(tensor_core_self_ns) AS tensor_core_self_ns,
        sum(sum(host_self_ns)) OVER (PARTITION BY trace_id) AS all_host_ns,
-- @if rest
        sum(CASE WHEN sum(calls) > 0 THEN sum(device_self_ns) ELSE 0 END)
            OVER (PARTITION BY trace_id) AS operators_device_ns,
        sum(CASE WHEN sum(calls) = 0 THEN sum(device_self_ns) ELSE 0 END)
            OVER (PARTITION BY trace_id) AS all_device_ns,
        sum(CASE WHEN sum(calls) > 0 THEN sum(tensor_core_self_ns) ELSE 0 END)
            OVER (PARTITION BY trace_id) AS operators_tensor_core_ns
-- @else
        sum(sum(device_self_ns)) OVER (PARTITION BY trace_id) AS all_device_ns
-- @end
    FROM by_track
    GROUP BY trace_id, rank, {keys}
)
-- @if rest
,
-- At first the last row contains all device work. The work that operators launched is subtracted
-- here.
rest AS (
    SELECT
        trace_id, rank, {keys}, calls, host_total_ns, host_self_ns,
        CASE WHEN calls > 0 THEN device_total_ns ELSE device_self_ns - operators_device_ns END
            AS device_total_ns,
        CASE WHEN calls > 0 THEN device_self_ns ELSE device_self_ns - operators_device_ns END
            AS device_self_ns,
        tensor_core_eligible,
        CASE
            WHEN calls > 0 THEN tensor_core_total_ns
            ELSE tensor_core_self_ns - operators_tensor_core_ns
        END AS tensor_core_total_ns,
        CASE
            WHEN calls > 0 THEN tensor_core_self_ns
            ELSE tensor_core_self_ns - operators_tensor_core_ns
        END AS tensor_core_self_ns,
        all_host_ns, all_device_ns
    FROM grouped
)
-- @end
SELECT
    trace_id, rank, {keys}, calls, host_total_ns, host_self_ns,
    100.0 * host_self_ns / nullif(all_host_ns, 0) AS host_self_pct,
    device_total_ns, device_self_ns,
    100.0 * device_self_ns / nullif(all_device_ns, 0) AS device_self_pct,
    tensor_core_eligible, tensor_core_total_ns, tensor_core_self_ns,
    100.0 * tensor_core_total_ns / nullif(device_total_ns, 0) AS tensor_core_total_pct,
    100.0 * tensor_core_self_ns / nullif(device_self_ns, 0) AS tensor_core_self_pct
-- @if rest
FROM rest
WHERE calls > 0 OR device_self_ns <> 0
-- @else
FROM grouped
WHERE call_stack IS NOT NULL
-- @end
