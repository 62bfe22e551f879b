-- Kernels by name as torch-tb-profiler 0.4.3 shows them, in microseconds.
--
-- For comparison with old screenshots; kernels_by_name is the view for today's traces. Means of a
-- figure that no kernel has are 0 here. Like the plugin, it shows no kernels of a trace in which
-- all kernels are communication.
--
-- Source: torch-tb-profiler 0.4.3, to the last digit, except for the order of float sums and for
--   the odd traces named in docs/tensorboard.md.
-- Example: SELECT name, calls, total_us FROM tb_kernels_by_name ORDER BY total_us DESC LIMIT 5
-- Holds: min_us <= max_us AND max_us <= total_us
-- Range: sum total_us
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column name VARCHAR text Name of the kernel.
-- @column calls BIGINT count Calls.
-- @column total_us DOUBLE us Total Duration.
-- @column mean_us DOUBLE us Mean Duration.
-- @column max_us DOUBLE us Max Duration.
-- @column min_us DOUBLE us Min Duration.
-- @column blocks_per_sm DOUBLE count Mean Blocks Per SM, weighted by duration.
-- @column occupancy_pct DOUBLE pct Mean Est. Achieved Occupancy, weighted by duration.
-- @column tc_used BOOLEAN flag Tensor Cores Used, by the plugin's list of names.
SELECT
    k.trace_id, t.rank, k.name,
    count(*) AS calls,
    sum(k.dur_us) AS total_us,
    sum(k.dur_us) / count(*) AS mean_us,
    max(k.dur_us) AS max_us,
    min(k.dur_us) AS min_us,
    coalesce(
        sum(coalesce(k.blocks_per_sm, 0.0) * k.dur_us) / nullif(sum(k.dur_us), 0.0), 0.0
    ) AS blocks_per_sm,
    coalesce(
        sum(coalesce(k.occupancy_pct, 0.0) * k.dur_us) / nullif(sum(k.dur_us), 0.0), 0.0
    ) AS occupancy_pct,
    bool_or(k.uses_tensor_cores) AS tc_used
FROM (
    SELECT
        *,
        bool_or(kind = 'kernel' AND NOT communicates) OVER (PARTITION BY trace_id) AS has_others
    FROM _tb_work
) k
JOIN traces t ON t.trace_id = k.trace_id
WHERE k.kind = 'kernel' AND k.has_others
GROUP BY k.trace_id, t.rank, k.name
