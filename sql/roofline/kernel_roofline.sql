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
shares AS (
    SELECT
        *,
        owner_id IS NOT NULL AND 10 * device_ns >= 9 * sum(device_ns) OVER (
            PARTITION BY trace_id, device, owner_id
        ) AS is_main
    FROM in_calls
),
owners AS (
    SELECT
        trace_id, rank, device, owner_id, max(name) AS name, max(input_shapes) AS input_shapes,
        max(input_types) AS input_types, max(CAST(flop AS DOUBLE)) AS flop,
        max(CAST(bytes AS DOUBLE)) AS bytes, max(roofline_ns) AS roofline_ns,
        bool_or(compute_ns >= memory_ns AND flop > 0) AS is_compute, max(reason) AS reason,
        max(figure_reason) AS figure_reason
    FROM _roofline_calls
    WHERE owner_id IS NOT NULL
    GROUP BY trace_id, rank, device, owner_id
),
joined AS (
    SELECT
        s.trace_id, t.rank, s.device, s.name AS kernel, s.class, o.name AS operator,
        o.input_shapes, o.input_types, s.is_main, s.place, o.reason, s.calls, s.device_ns,
        CASE WHEN s.is_main AND o.figure_reason IS NULL THEN o.flop END AS flop,
        CASE WHEN s.is_main AND o.figure_reason IS NULL THEN o.bytes END AS bytes,
        CASE WHEN s.is_main THEN o.roofline_ns END AS roofline_ns,
        CASE WHEN s.is_main AND o.roofline_ns IS NOT NULL THEN o.is_compute END AS is_compute
    FROM shares s
    JOIN traces t ON t.trace_id = s.trace_id
    LEFT JOIN owners o
        ON o.trace_id = s.trace_id AND o.owner_id = s.owner_id
            AND (o.device IS NOT DISTINCT FROM s.device)
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
