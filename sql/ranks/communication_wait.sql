-- Communication of each rank and step: data transfer and waiting for other ranks, by the plugin's
-- rule.
--
-- Communication is the union of the marks of collectives on the host, the kernels launched in them,
-- and communication kernels without a mark. Where all ranks of the job have as many of a name, each
-- is compared with the same one of the other ranks: the shortest duration is data transfer, at the
-- end of the range, and the rest is waiting. Steps are those of step_time; a collective belongs to
-- the step its mark begins in. This is the plugin's definition, for comparison with its distributed
-- view: calls are paired by name and order only, which pairs sends and receives of a pipeline
-- wrongly. collective_members has the waits of matched calls, and rank_communication their sums.
--
-- Source: the distributed view of torch-tb-profiler 0.4.3 (Synchronizing/Communication Overview),
--   which knows ten collectives only.
-- Example: SELECT rank, step, transfer_ns, wait_ns FROM communication_wait ORDER BY rank, step
-- Holds: transfer_ns + wait_ns <= communication_ns
--
-- @scope store
-- @column trace_id VARCHAR text The trace.
-- @column job VARCHAR text The job (job_ranks.job); NULL if the rank is not known.
-- @column rank BIGINT id Rank of the trace; NULL if not known.
-- @column step BIGINT id Step; NULL for collectives outside of steps, or if the trace has none.
-- @column calls BIGINT count Collectives.
-- @column calls_compared BIGINT count Those that could be compared with other ranks: transfer_ns
--   and wait_ns are of these alone.
-- @column communication_ns BIGINT ns Time in which at least one collective was under way.
-- @column transfer_ns BIGINT ns The part that is data transfer; NULL if the ranks could not be
--   compared.
-- @column wait_ns BIGINT ns The part of compared collectives that is waiting; NULL if the ranks
--   could not be compared.
SELECT
    trace_id, job, rank, step, calls, calls_compared, communication_ns,
    CASE WHEN compared > 0 THEN transfer_ns END AS transfer_ns,
    CASE WHEN compared > 0 THEN compared_ns - transfer_ns END AS wait_ns
FROM (
    SELECT
        trace_id, job, rank, step,
        count(DISTINCT mark_id) AS calls,
        count(DISTINCT CASE WHEN transfer_start_ns IS NOT NULL THEN mark_id END) AS calls_compared,
        count(transfer_start_ns) AS compared,
        interval_union_len(ts_ns, end_ns) AS communication_ns,
        interval_union_len(
            CASE WHEN transfer_start_ns IS NOT NULL THEN ts_ns END, end_ns
        ) AS compared_ns,
        interval_union_len(transfer_start_ns, end_ns) AS transfer_ns
    FROM _collective_ranges
    GROUP BY trace_id, job, rank, step
)
