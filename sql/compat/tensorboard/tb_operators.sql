-- The table of operators of torch-tb-profiler, by name and on request also by input shape and by
-- call stack.
-- @expand tb_operators today="operators" by="name" keys="name" selfs_within_totals
--   of_group="g.name"
-- @expand tb_operators_by_input today="operators_by_input" by="name and input shape"
--   keys="name, input_shapes" of_group="g.name, g.input_shapes" shapes
-- @expand tb_operators_by_stack today="operators_by_stack" by="name and call stack"
--   keys="name, call_stack" of_group="g.name, g.call_stack" stacks
-- @expand tb_operators_by_input_stack today="operators_by_input_stack"
--   by="name, input shape and call stack"
--   keys="name, input_shapes, call_stack" of_group="g.name, g.input_shapes, g.call_stack"
--   shapes stacks
--
-- Operators by {by} as torch-tb-profiler 0.4.3 shows them, in microseconds.
--
-- For comparison with old screenshots; {today} is the view for today's traces. The plugin knows
-- runtime calls of category Runtime only and joins them to operators by External id: on traces
-- since PyTorch 1.12 device times are 0. It computes in floats. An operator is eligible for tensor
-- cores by its name, by a kernel that it launches, or by an eligible node directly in it; modules,
-- steps, marks and Python calls pass no eligibility on.
-- @if stacks
-- Calls without a call stack are left out; traces since PyTorch 2.0 have Python frames instead.
-- @end
--
-- Source: torch-tb-profiler 0.4.3, to the last digit, except for the order of float sums and for
--   the odd traces named in docs/tensorboard.md.
-- Example: SELECT name, calls, device_self_us FROM {view}
--   ORDER BY device_self_us DESC LIMIT 5
-- Range: sum host_total_us, host_self_us, device_total_us, device_self_us
-- @if selfs_within_totals
-- Holds: host_self_us <= host_total_us
-- @end
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column name VARCHAR text Name of the operator.
-- @if shapes
-- @column input_shapes VARCHAR json Shapes of the inputs; [] if not recorded.
-- @end
-- @if stacks
-- @column call_stack VARCHAR text Call stack as recorded.
-- @end
-- @column calls BIGINT count Number of calls.
-- @column host_total_us DOUBLE us Sum of durations on the host.
-- @column host_self_us DOUBLE us The same less nodes and runtime calls directly inside.
-- @column device_total_us DOUBLE us Device time launched by the calls and all calls inside.
-- @column device_self_us DOUBLE us Device time launched by the calls themselves.
-- @column tc_eligible BOOLEAN flag Tensor Cores Eligible, of the first call.
-- @column tc_self_ratio DOUBLE ratio Tensor Cores Self: share of device_self_us in kernels that use
--   tensor cores; 0 if there is no device time.
-- @column tc_total_ratio DOUBLE ratio Tensor Cores Total: the same of device_total_us.
WITH calls AS (
-- @if shapes
    SELECT *, coalesce(input_dims, '[]') AS input_shapes
-- @else
    SELECT *
-- @end
    FROM _tb_tree
    WHERE is_listed AND call_id = event_id
-- @if stacks
        AND call_stack <> ''
-- @end
),
by_thread AS (
    SELECT
        trace_id, thread_order, {keys},
        count(*) AS calls,
        sum(dur_us) AS host_total_us,
        sum(call_self_us) AS host_self_us,
        sum(device_total_us) AS device_total_us,
        sum(call_device_us) AS device_self_us,
        first_value(
            eligible_reached > 0
            ORDER BY end_us, start_us = end_us, start_us DESC,
            CASE WHEN start_us = end_us THEN event_id ELSE 0 - event_id END
        ) AS tc_eligible,
        sum(call_tensor_core_us) AS tc_self_us,
        sum(tensor_core_total_us) AS tc_total_us
    FROM calls
    GROUP BY trace_id, thread_order, {keys}
),
grouped AS (
    SELECT
        trace_id, {keys},
        sum(calls) AS calls,
        sum(host_total_us) AS host_total_us,
        sum(host_self_us) AS host_self_us,
        sum(device_total_us) AS device_total_us,
        sum(device_self_us) AS device_self_us,
        first_value(tc_eligible ORDER BY thread_order) AS tc_eligible,
        sum(tc_self_us) AS tc_self_us,
        sum(tc_total_us) AS tc_total_us
    FROM by_thread
    GROUP BY trace_id, {keys}
)
SELECT
    g.trace_id, t.rank, {of_group}, g.calls, g.host_total_us, g.host_self_us, g.device_total_us,
    g.device_self_us, g.tc_eligible,
    CASE
        WHEN g.device_self_us > 0 THEN g.tc_self_us / g.device_self_us
        ELSE 0.0
    END AS tc_self_ratio,
    CASE
        WHEN g.device_total_us > 0 THEN g.tc_total_us / g.device_total_us
        ELSE 0.0
    END AS tc_total_ratio
FROM grouped g
JOIN traces t ON t.trace_id = g.trace_id
