-- Average step: the mean over steps of each part of step_time, in time and as a share.
--
-- Source: "Average Step Time" of torch-tb-profiler 0.4.3.
-- Example: SELECT steps, total_ns, kernel_pct, dataloader_pct FROM step_time_average
-- Holds: abs(total_ns - (kernel_ns + memcpy_ns + memset_ns + communication_ns + runtime_ns +
--   dataloader_ns + cpu_exec_ns + other_ns)) < 0.001
-- Holds: abs(kernel_pct + memcpy_pct + memset_pct + communication_pct + runtime_pct +
--   dataloader_pct + cpu_exec_pct + other_pct - 100) < 0.000001
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column steps BIGINT count Number of rows of step_time.
-- @column total_ns DOUBLE ns Mean length of a step.
-- @column kernel_ns DOUBLE ns Mean time in kernels.
-- @column memcpy_ns DOUBLE ns Mean time in copies.
-- @column memset_ns DOUBLE ns Mean time in fills.
-- @column communication_ns DOUBLE ns Mean time in collectives.
-- @column runtime_ns DOUBLE ns Mean time in runtime and driver calls.
-- @column dataloader_ns DOUBLE ns Mean time in data loading.
-- @column cpu_exec_ns DOUBLE ns Mean time in operators.
-- @column other_ns DOUBLE ns Mean time in nothing of these.
-- @column kernel_pct DOUBLE pct kernel_ns as percent of total_ns; NULL if that is 0.
-- @column memcpy_pct DOUBLE pct memcpy_ns as percent of total_ns; NULL if that is 0.
-- @column memset_pct DOUBLE pct memset_ns as percent of total_ns; NULL if that is 0.
-- @column communication_pct DOUBLE pct communication_ns as percent of total_ns; NULL if that is 0.
-- @column runtime_pct DOUBLE pct runtime_ns as percent of total_ns; NULL if that is 0.
-- @column dataloader_pct DOUBLE pct dataloader_ns as percent of total_ns; NULL if that is 0.
-- @column cpu_exec_pct DOUBLE pct cpu_exec_ns as percent of total_ns; NULL if that is 0.
-- @column other_pct DOUBLE pct other_ns as percent of total_ns; NULL if that is 0.
SELECT
    trace_id, rank,
    count(*) AS steps,
    CAST(sum(total_ns) AS DOUBLE) / count(*) AS total_ns,
    CAST(sum(kernel_ns) AS DOUBLE) / count(*) AS kernel_ns,
    CAST(sum(memcpy_ns) AS DOUBLE) / count(*) AS memcpy_ns,
    CAST(sum(memset_ns) AS DOUBLE) / count(*) AS memset_ns,
    CAST(sum(communication_ns) AS DOUBLE) / count(*) AS communication_ns,
    CAST(sum(runtime_ns) AS DOUBLE) / count(*) AS runtime_ns,
    CAST(sum(dataloader_ns) AS DOUBLE) / count(*) AS dataloader_ns,
    CAST(sum(cpu_exec_ns) AS DOUBLE) / count(*) AS cpu_exec_ns,
    CAST(sum(other_ns) AS DOUBLE) / count(*) AS other_ns,
    100.0 * sum(kernel_ns) / nullif(sum(total_ns), 0) AS kernel_pct,
    100.0 * sum(memcpy_ns) / nullif(sum(total_ns), 0) AS memcpy_pct,
    100.0 * sum(memset_ns) / nullif(sum(total_ns), 0) AS memset_pct,
    100.0 * sum(communication_ns) / nullif(sum(total_ns), 0) AS communication_pct,
    100.0 * sum(runtime_ns) / nullif(sum(total_ns), 0) AS runtime_pct,
    100.0 * sum(dataloader_ns) / nullif(sum(total_ns), 0) AS dataloader_pct,
    100.0 * sum(cpu_exec_ns) / nullif(sum(total_ns), 0) AS cpu_exec_pct,
    100.0 * sum(other_ns) / nullif(sum(total_ns), 0) AS other_pct
FROM step_time
GROUP BY trace_id, rank
