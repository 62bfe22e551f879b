-- Step time breakdown: what each moment of a step was spent on.
--
-- Each moment counts once, for the first that applies: kernel, copy, fill, communication, runtime
-- call, data loading, other work on the host, nothing of these. So the parts add up to the total. A
-- step lasts until the device work launched in it ends, and begins when that of the step before has
-- ended; steps at the end whose device work was not recorded whole are left out. A trace without
-- steps has one row with step NULL that spans its operators, else its device work. Communication is
-- the kernels of class communication in kernel_classes, and collectives in which the host itself
-- exchanges data (marks of gloo, mpi and ucc; those of nccl only launch kernels and count where the
-- trace has no device work). Copies are those of kernel_classes, kernels that copy included.
--
-- Source: the overview of torch-tb-profiler 0.4.3, which knows ten collectives only and counts the
--   marks that launch them; tb_step_time has its numbers.
-- Example: SELECT step, total_ns, kernel_ns, other_ns FROM step_time ORDER BY step
-- Holds: total_ns = end_ns - start_ns
-- Holds: total_ns = kernel_ns + memcpy_ns + memset_ns + communication_ns + runtime_ns +
--   dataloader_ns + cpu_exec_ns + other_ns
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column step BIGINT id Number of the step; NULL if the trace has no steps.
-- @column start_ns BIGINT ns Start of the step, device work of the step before having ended.
-- @column end_ns BIGINT ns End of the step with its device work.
-- @column total_ns BIGINT ns end_ns - start_ns; the sum of the columns that follow.
-- @column kernel_ns BIGINT ns Time in which a kernel ran, collectives aside.
-- @column memcpy_ns BIGINT ns Time in copies, of the rest.
-- @column memset_ns BIGINT ns Time in fills, of the rest.
-- @column communication_ns BIGINT ns Time in communication, of the rest.
-- @column runtime_ns BIGINT ns Time in runtime and driver calls, of the rest.
-- @column dataloader_ns BIGINT ns Time in data loading, of the rest.
-- @column cpu_exec_ns BIGINT ns Time in operators, of the rest.
-- @column other_ns BIGINT ns What is left.
SELECT
    s.trace_id, t.rank,
    CASE WHEN s.is_marked THEN s.step END AS step,
    s.start_ns, s.end_ns,
    s.end_ns - s.start_ns AS total_ns,
    coalesce(sum(o.len_ns) FILTER (WHERE o.mask % 2 = 1), 0) AS kernel_ns,
    coalesce(sum(o.len_ns) FILTER (WHERE o.mask % 4 = 2), 0) AS memcpy_ns,
    coalesce(sum(o.len_ns) FILTER (WHERE o.mask % 8 = 4), 0) AS memset_ns,
    coalesce(sum(o.len_ns) FILTER (WHERE o.mask % 16 = 8), 0) AS communication_ns,
    coalesce(sum(o.len_ns) FILTER (WHERE o.mask % 32 = 16), 0) AS runtime_ns,
    coalesce(sum(o.len_ns) FILTER (WHERE o.mask % 64 = 32), 0) AS dataloader_ns,
    coalesce(sum(o.len_ns) FILTER (WHERE o.mask % 64 = 0 AND o.mask > 0), 0) AS cpu_exec_ns,
    coalesce(sum(o.len_ns) FILTER (WHERE o.mask = 0), 0) AS other_ns
FROM _steps s
JOIN traces t ON t.trace_id = s.trace_id
LEFT JOIN _role_overlaps o ON o.trace_id = s.trace_id AND o.ordinal = s.ordinal
GROUP BY s.trace_id, t.rank, s.ordinal, s.is_marked, s.step, s.start_ns, s.end_ns
