-- Kernels by name and device: calls, time, class, launch figures, use of tensor or matrix cores.
--
-- All kernels of the trace count, with or without a known launch. Means of blocks per SM and
-- occupancy are weighted by duration; a kernel without a value counts as 0, and the mean is NULL if
-- no kernel of the row has one.
--
-- Source: the kernel table of torch-tb-profiler 0.4.3, which has one row for all devices.
-- Example: SELECT name, calls, total_ns FROM kernels_by_name ORDER BY total_ns DESC LIMIT 5
-- Holds: abs(sum(total_pct) OVER (PARTITION BY trace_id, device) - 100) < 0.000001
-- Holds: min_ns <= mean_ns AND mean_ns <= max_ns AND max_ns <= total_ns
-- Range: sum total_ns
-- Parts: total_ns BY trace_id, name OF kernels_by_operator.total_ns
-- Parts: calls BY trace_id OF overview.kernels
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column device BIGINT id Device.
-- @column name VARCHAR text Name of the kernel.
-- @column calls BIGINT count Number of kernels.
-- @column total_ns BIGINT ns Sum of durations.
-- @column total_pct DOUBLE pct total_ns as percent of the sum over all kernels of the device.
-- @column mean_ns DOUBLE ns Mean duration.
-- @column min_ns BIGINT ns Shortest duration.
-- @column max_ns BIGINT ns Longest duration.
-- @column blocks_per_sm DOUBLE count Mean blocks per multiprocessor, weighted by duration.
-- @column occupancy_pct DOUBLE pct Mean estimated achieved occupancy, weighted by duration.
-- @column class VARCHAR text As in kernel_classes: communication, gemm, attention, …; mixed if its
--   calls differ.
-- @column matrix_unit VARCHAR text Whether the kernel runs on tensor or matrix cores, as in
--   kernel_classes: yes, no, unclear; mixed if its calls differ.
SELECT
    k.trace_id, t.rank, k.device, k.name,
    count(*) AS calls,
    sum(k.dur_ns) AS total_ns,
    100.0 * sum(k.dur_ns) / nullif(
        sum(sum(k.dur_ns)) OVER (PARTITION BY k.trace_id, k.device), 0
    ) AS total_pct,
    CAST(sum(k.dur_ns) AS DOUBLE) / count(*) AS mean_ns,
    min(k.dur_ns) AS min_ns,
    max(k.dur_ns) AS max_ns,
    CASE
        WHEN count(k.blocks_per_sm) > 0
            THEN sum(k.blocks_per_sm * k.dur_ns) / nullif(sum(k.dur_ns), 0)
    END AS blocks_per_sm,
    CASE
        WHEN count(k.occupancy_pct) > 0
            THEN sum(k.occupancy_pct * k.dur_ns) / nullif(sum(k.dur_ns), 0)
    END AS occupancy_pct,
    CASE WHEN min(c.class) <> max(c.class) THEN 'mixed' ELSE min(c.class) END AS class,
    CASE
        WHEN min(c.matrix_unit) <> max(c.matrix_unit) THEN 'mixed'
        ELSE min(c.matrix_unit)
    END AS matrix_unit
FROM kernels k
JOIN traces t ON t.trace_id = k.trace_id
JOIN kernel_classes c ON c.trace_id = k.trace_id AND c.event_id = k.event_id
WHERE k.kind = 'kernel' AND k.dur_ns IS NOT NULL
GROUP BY k.trace_id, t.rank, k.device, k.name
