-- Communication of each rank and step: data transfer and waiting for other ranks, by the plugin's rule.
--
-- Communication is the union of the marks of collectives on the host and the kernels launched in them. Where all ranks of the job have as many, each
-- is compared with the same one of the other ranks: the shortest duration is data transfer, at the end of the range, and the rest is waiting. Steps
-- are those of step_time; a collective belongs to the step its mark begins in. collective_waits says the same for single calls, by kernels alone.
--
-- Source: the distributed view of torch-tb-profiler 0.4.3 (Synchronizing/Communication Overview).
-- Example: SELECT rank, step, transfer_ns, wait_ns FROM communication_wait ORDER BY rank, step
--
-- @column trace_id VARCHAR text The trace.
-- @column job VARCHAR text The job (job_ranks.job); NULL if the rank is not known.
-- @column rank BIGINT id Rank of the trace; NULL if not known.
-- @column step BIGINT id Step; NULL for collectives outside of steps, or if the trace has none.
-- @column calls BIGINT count Collectives.
-- @column communication_ns BIGINT ns Time in which at least one collective was under way.
-- @column transfer_ns BIGINT ns The part that is data transfer; NULL if the ranks could not be compared.
-- @column wait_ns BIGINT ns The part that is waiting; NULL if the ranks could not be compared.
SELECT
    trace_id, job, rank, step,
    count(DISTINCT mark_id) AS calls,
    interval_union_len(ts_ns, end_ns) AS communication_ns,
    CASE WHEN count(transfer_start_ns) > 0 THEN interval_union_len(transfer_start_ns, end_ns) END AS transfer_ns,
    CASE WHEN count(transfer_start_ns) > 0 THEN interval_union_len(ts_ns, end_ns) - interval_union_len(transfer_start_ns, end_ns) END AS wait_ns
FROM _collective_ranges
GROUP BY trace_id, job, rank, step
