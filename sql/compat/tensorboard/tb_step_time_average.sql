-- Average step as torch-tb-profiler 0.4.3 shows it, in microseconds.
--
-- Source: torch-tb-profiler 0.4.3, to the last digit, except for the order of float sums and for
--   the odd traces named in docs/tensorboard.md.
-- Example: SELECT steps, total_us, kernel_us FROM tb_step_time_average
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column steps BIGINT count Number of rows of tb_step_time.
-- @column kernel_us DOUBLE us Mean of Kernel.
-- @column memcpy_us DOUBLE us Mean of Memcpy.
-- @column memset_us DOUBLE us Mean of Memset.
-- @column communication_us DOUBLE us Mean of Communication.
-- @column runtime_us DOUBLE us Mean of Runtime.
-- @column dataloader_us DOUBLE us Mean of DataLoader.
-- @column cpu_exec_us DOUBLE us Mean of CPU Exec.
-- @column other_us DOUBLE us Mean of Other.
-- @column total_us DOUBLE us Mean of Total.
SELECT
    trace_id, rank,
    count(*) AS steps,
    sum(kernel_us) / count(*) AS kernel_us,
    sum(memcpy_us) / count(*) AS memcpy_us,
    sum(memset_us) / count(*) AS memset_us,
    sum(communication_us) / count(*) AS communication_us,
    sum(runtime_us) / count(*) AS runtime_us,
    sum(dataloader_us) / count(*) AS dataloader_us,
    sum(cpu_exec_us) / count(*) AS cpu_exec_us,
    sum(other_us) / count(*) AS other_us,
    sum(total_us) / count(*) AS total_us
FROM tb_step_time
GROUP BY trace_id, rank
