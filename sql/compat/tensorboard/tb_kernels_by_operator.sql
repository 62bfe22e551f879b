-- Kernels by operator and launch configuration as torch-tb-profiler 0.4.3 shows them, in
-- microseconds.
--
-- For comparison with old screenshots; kernels_by_operator is the view for today's traces. Kernels
-- whose launch the plugin does not see hang on CallTreeRoot, once for each thread with a step;
-- those whose launch carries the id of no operator are missing. So are those whose launch carries
-- id 0 on a thread that the trace writes as text, as PyTorch 1.8 does, or on one without operators;
-- on other threads they hang on CallTreeRoot. Kernels of launches without an id hang on the first
-- module or operator without one.
--
-- Source: torch-tb-profiler 0.4.3, to the last digit, except for the order of float sums and for
--   the odd traces named in docs/tensorboard.md.
-- Example: SELECT operator, name, calls, total_us FROM tb_kernels_by_operator
--   ORDER BY total_us DESC LIMIT 5
-- Holds: min_us <= max_us AND max_us <= total_us
-- Range: sum total_us
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column name VARCHAR text Name of the kernel.
-- @column operator VARCHAR text Operator, module or mark that the launch hangs on, or CallTreeRoot.
-- @column grid VARCHAR json Grid; NULL if not recorded.
-- @column block VARCHAR json Block; NULL if not recorded.
-- @column registers_per_thread BIGINT count Register Per Thread; 0 if not recorded.
-- @column shared_memory_bytes BIGINT bytes Shared Memory; 0 if not recorded.
-- @column calls BIGINT count Calls.
-- @column total_us DOUBLE us Total Duration.
-- @column mean_us DOUBLE us Mean Duration.
-- @column max_us DOUBLE us Max Duration.
-- @column min_us DOUBLE us Min Duration.
-- @column blocks_per_sm DOUBLE count Mean Blocks Per SM, weighted by duration.
-- @column occupancy_pct DOUBLE pct Mean Est. Achieved Occupancy, weighted by duration.
-- @column tc_used BOOLEAN flag Kernel Uses Tensor Cores, by the plugin's list of names.
-- @column op_tc_eligible BOOLEAN flag Op is Tensor Cores eligible, by its own name.
WITH owned AS (
    SELECT
        trace_id, event_id, owner_id, thread_order, is_launch,
        on_root AND thread_order IS NOT NULL AS on_root,
        coalesce(parent_value(event_id, owner_id, CAST(loses AS BIGINT)) OVER trace, 1)
            = 0 AS on_node,
        parent_value(event_id, owner_id, name) OVER trace AS node,
        parent_value(event_id, owner_id, thread_order) OVER trace AS node_thread
    FROM _tb_tree
    WINDOW trace AS (PARTITION BY trace_id ORDER BY tid, start_tick, event_id)
),
-- A launch that is attached to a node and to a root occurs twice, both times with the name of the
-- later one.
launches AS (
    SELECT
        trace_id, event_id,
        CASE
            WHEN on_node AND NOT (on_root AND thread_order >= node_thread) THEN node
            ELSE 'CallTreeRoot'
        END AS operator,
        unnest(CASE WHEN on_node AND on_root THEN [1, 2] ELSE [1] END) AS place
    FROM owned
    WHERE is_launch = 1 AND (on_node OR on_root)
),
step_threads AS (SELECT DISTINCT trace_id, tid FROM _tb_calls WHERE kind = 'step'),
kernels_of AS (
    SELECT w.*, l.operator
    FROM _tb_work w
    JOIN launches l ON l.trace_id = w.trace_id AND l.event_id = w.launch_id
    WHERE w.kind = 'kernel' AND NOT w.is_stale
    UNION ALL
    SELECT w.*, 'CallTreeRoot'
    FROM _tb_work w
    JOIN step_threads s ON s.trace_id = w.trace_id
    WHERE w.kind = 'kernel' AND w.is_stale
),
shown AS (
    SELECT
        k.*,
        '[' || k.grid_x || ', ' || k.grid_y || ', ' || k.grid_z || ']' AS grid,
        '[' || k.block_x || ', ' || k.block_y || ', ' || k.block_z || ']' AS block,
        coalesce(k.registers_per_thread, 0) AS registers,
        coalesce(k.shared_memory_bytes, 0) AS shared,
        classify('tensor_core_eligible', k.operator) IS NOT NULL AS is_eligible
    FROM kernels_of k
)
SELECT
    s.trace_id, t.rank, s.name, s.operator, s.grid, s.block,
    s.registers AS registers_per_thread,
    s.shared AS shared_memory_bytes,
    count(*) AS calls,
    sum(s.end_us - s.start_us) AS total_us,
    sum(s.end_us - s.start_us) / count(*) AS mean_us,
    max(s.end_us - s.start_us) AS max_us,
    min(s.end_us - s.start_us) AS min_us,
    coalesce(
        sum(coalesce(s.blocks_per_sm, 0.0) * (s.end_us - s.start_us))
            / nullif(sum(s.end_us - s.start_us), 0.0),
        0.0
    ) AS blocks_per_sm,
    coalesce(
        sum(coalesce(s.occupancy_pct, 0.0) * (s.end_us - s.start_us))
            / nullif(sum(s.end_us - s.start_us), 0.0),
        0.0
    ) AS occupancy_pct,
    bool_or(s.uses_tensor_cores) AS tc_used,
    bool_or(s.is_eligible) AS op_tc_eligible
FROM shown s
JOIN traces t ON t.trace_id = s.trace_id
GROUP BY s.trace_id, t.rank, s.name, s.operator, s.grid, s.block, s.registers, s.shared
