-- Kernels with the figures of the operator that owns them.
--
-- One row per kernel, owner and shapes. The figures of a call are those of its main kernel: its
-- only one, or the one with at least 90 % of the call's time. Other kernels have NULL figures, and
-- reason names the owner that they are part of.
--
-- Source: operator_roofline.
-- Example: SELECT left(kernel, 40) AS kernel, operator, calls, device_ns, tflop_s, roofline_pct
--   FROM kernel_roofline ORDER BY device_ns DESC LIMIT 5
-- Holds: is_main OR roofline_pct IS NULL
-- Parts: device_ns BY trace_id, device OF gpu_time_by_class.total_ns
-- Range: sum device_ns
-- Range: any roofline_pct; calls can be above it (operator_roofline.over).
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column device BIGINT id Device; NULL where none was written.
-- @column kernel VARCHAR text Name of the kernel, copy or fill.
-- @column class VARCHAR text As in kernel_classes.
-- @column operator VARCHAR text Name of the operator that owns it; NULL outside of operators.
-- @column input_shapes VARCHAR json Shapes of the operator's inputs; NULL outside of operators.
-- @column input_types VARCHAR json Types of the operator's inputs; NULL if not recorded.
-- @column calls BIGINT count Number of activities.
-- @column device_ns BIGINT ns Sum of their durations.
-- @column is_main BOOLEAN flag Whether the figures of the operator are those of this kernel.
-- @column tflop_s DOUBLE TFLOP/s Operations of the operators by device_ns; NULL if not known.
-- @column gb_s DOUBLE GB/s Bytes of the operators by device_ns; NULL if not known.
-- @column roofline_pct DOUBLE pct Time at the roofline as percent of device_ns; NULL if not known.
-- @column bound VARCHAR text compute or memory; NULL if not known.
-- @column reason VARCHAR text Why there are no figures; NULL if there are.
WITH in_calls AS (
    SELECT
        trace_id, device, owner_id, place, name, class,
        count(*) AS calls, sum(dur_ns) AS device_ns
    FROM _owned_work
    GROUP BY trace_id, device, owner_id, place, name, class
),
owners AS (
    SELECT
        trace_id, device, owner_id,
        max(kind_id) AS kind_id,
        max(has_tf32) AS has_tf32,
        max(has_transfer) AS has_transfer,
        bool_or(is_divided) AS is_divided,
        sum(activity_ns) AS owner_ns
    FROM _owner_calls
    WHERE owner_id IS NOT NULL
    GROUP BY trace_id, device, owner_id
),
shares AS (
    SELECT
        c.trace_id, c.device, c.place, c.name, c.class,
        coalesce(o.kind_id, -1) AS kind_id,
        coalesce(o.has_tf32, 0) AS has_tf32,
        coalesce(o.has_transfer, 0) AS has_transfer,
        coalesce(o.is_divided, false) AS is_divided,
        coalesce(10 * c.device_ns >= 9 * o.owner_ns, false) AS is_main,
        c.calls, c.device_ns
    FROM in_calls c
    LEFT JOIN owners o
        ON o.trace_id = c.trace_id AND o.owner_id = c.owner_id
            AND (o.device IS NOT DISTINCT FROM c.device)
),
by_kind AS (
    SELECT
        trace_id, device, place, name, class, kind_id, has_tf32, has_transfer, is_divided, is_main,
        count(*) AS owners, sum(calls) AS calls, sum(device_ns) AS device_ns
    FROM shares
    GROUP BY
        trace_id, device, place, name, class, kind_id, has_tf32, has_transfer, is_divided, is_main
),
joined AS (
    SELECT
        s.trace_id, k.rank, s.device, s.name AS kernel, s.class, k.name AS operator,
        k.input_shapes, k.input_types, s.is_main, s.place, k.reason, s.calls, s.device_ns,
        CASE WHEN s.is_main AND k.figure_reason IS NULL THEN s.owners * CAST(k.flop AS DOUBLE) END
            AS flop,
        CASE WHEN s.is_main AND k.figure_reason IS NULL THEN s.owners * CAST(k.bytes AS DOUBLE) END
            AS bytes,
        CASE WHEN s.is_main THEN s.owners * k.roofline_ns END AS roofline_ns,
        CASE
            WHEN s.is_main AND k.roofline_ns IS NOT NULL
                THEN k.compute_ns >= k.memory_ns AND k.flop > 0
        END AS is_compute
    FROM by_kind s
    JOIN _roofline_kinds k
        ON k.trace_id = s.trace_id AND k.place = s.place AND k.kind_id = s.kind_id
            AND k.has_tf32 = s.has_tf32 AND k.has_transfer = s.has_transfer
            AND k.is_divided = s.is_divided
            AND coalesce(k.device, -1) = coalesce(s.device, -1)
)
SELECT
    trace_id, rank, device, kernel, class, operator, input_shapes, input_types,
    sum(calls) AS calls,
    sum(device_ns) AS device_ns,
    is_main,
    sum(flop) / sum(device_ns) / 1000 AS tflop_s,
    sum(bytes) / sum(device_ns) AS gb_s,
    100.0 * sum(roofline_ns) / sum(device_ns) AS roofline_pct,
    CASE WHEN is_compute THEN 'compute' WHEN NOT is_compute THEN 'memory' END AS bound,
    CASE
        WHEN place = 'communication' THEN 'communication'
        WHEN place <> 'operator' THEN concat('(', place, ')')
        WHEN NOT is_main THEN concat('part of ', operator)
        ELSE reason
    END AS reason
FROM joined
GROUP BY
    trace_id, rank, device, kernel, class, operator, input_shapes, input_types, is_main, is_compute,
    place, reason
