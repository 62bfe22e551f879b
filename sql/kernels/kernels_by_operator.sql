-- Kernels by operator, name and launch configuration: calls, time, launch figures, tensor core use.
--
-- The operator is the innermost operator or collective mark around the launch on its thread.
-- Kernels launched outside operators, or whose launch is not in the trace, have the operator
-- (unattributed). Means of blocks per SM and occupancy as in kernels_by_name.
--
-- Source: the table by properties and operator of torch-tb-profiler 0.4.3.
-- Example: SELECT operator, name, calls, total_ns FROM kernels_by_operator ORDER BY total_ns DESC
--   LIMIT 5
-- Holds: abs(sum(total_pct) OVER (PARTITION BY trace_id) - 100) < 0.000001
-- Holds: min_ns <= mean_ns AND mean_ns <= max_ns AND max_ns <= total_ns
-- Range: sum total_ns
-- Parts: total_ns BY trace_id OF tensor_core_time.kernel_ns
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column name VARCHAR text Name of the kernel.
-- @column operator VARCHAR text Name of the operator or collective mark, or (unattributed).
-- @column grid VARCHAR json Grid size, blocks in x, y, z; NULL if not recorded.
-- @column block VARCHAR json Block size, threads in x, y, z; NULL if not recorded.
-- @column registers_per_thread BIGINT count Registers per thread; 0 if not recorded.
-- @column shared_memory_bytes BIGINT bytes Shared memory per block; 0 if not recorded.
-- @column calls BIGINT count Number of kernels.
-- @column total_ns BIGINT ns Sum of durations.
-- @column total_pct DOUBLE pct total_ns as percent of the sum over all kernels of the trace.
-- @column mean_ns DOUBLE ns Mean duration.
-- @column min_ns BIGINT ns Shortest duration.
-- @column max_ns BIGINT ns Longest duration.
-- @column blocks_per_sm DOUBLE count Mean blocks per multiprocessor, weighted by duration.
-- @column occupancy_pct DOUBLE pct Mean estimated achieved occupancy, weighted by duration.
-- @column class VARCHAR text As in kernel_classes: communication, gemm, attention, …; mixed if its
--   calls differ.
-- @column uses_tensor_cores BOOLEAN flag Whether the kernel runs on tensor or matrix cores, as in
--   kernel_classes; NULL if that is unclear.
-- @column operator_tensor_core_eligible BOOLEAN flag Whether the operator can run on tensor cores,
--   by its own name.
WITH work AS (
    SELECT
        d.*, t.rank,
        coalesce(d.owner_name, '(unattributed)') AS operator,
        '[' || d.grid_x || ', ' || d.grid_y || ', ' || d.grid_z || ']' AS grid,
        '[' || d.block_x || ', ' || d.block_y || ', ' || d.block_z || ']' AS block,
        classify('tensor_core_eligible', d.owner_name) IS NOT NULL AS eligible,
        coalesce(d.registers_per_thread, 0) AS registers,
        coalesce(d.shared_memory_bytes, 0) AS shared
    FROM _launched_work d
    JOIN traces t ON t.trace_id = d.trace_id
    WHERE d.kind = 'kernel'
)
SELECT
    trace_id, rank, name, operator, grid, block,
    registers AS registers_per_thread,
    shared AS shared_memory_bytes,
    count(*) AS calls,
    sum(dur_ns) AS total_ns,
    100.0 * sum(dur_ns) / nullif(sum(sum(dur_ns)) OVER (PARTITION BY trace_id), 0) AS total_pct,
    CAST(sum(dur_ns) AS DOUBLE) / count(*) AS mean_ns,
    min(dur_ns) AS min_ns,
    max(dur_ns) AS max_ns,
    CASE
        WHEN count(blocks_per_sm) > 0 THEN sum(blocks_per_sm * dur_ns) / nullif(sum(dur_ns), 0)
    END AS blocks_per_sm,
    CASE
        WHEN count(occupancy_pct) > 0 THEN sum(occupancy_pct * dur_ns) / nullif(sum(dur_ns), 0)
    END AS occupancy_pct,
    CASE WHEN min(class) <> max(class) THEN 'mixed' ELSE min(class) END AS class,
    bool_or(uses_tensor_cores) AS uses_tensor_cores,
    bool_or(eligible) AS operator_tensor_core_eligible
FROM work
GROUP BY trace_id, rank, name, operator, grid, block, registers, shared
