-- Dumps of the flight recorder: job, rank, what the buffer holds.
--
-- The flight recorder keeps the last collectives that each rank of a job has scheduled
-- (TORCH_NCCL_TRACE_BUFFER_SIZE or TORCH_FR_BUFFER_SIZE records). The rank is the number in the
-- file's name, as in nccl_trace_rank_3. Dumps of one folder whose names differ in the rank only are
-- one job.
--
-- Example: SELECT job, rank, records, is_rolled, pending FROM flight_dumps ORDER BY job, rank
--
-- @scope store
-- @column trace_id VARCHAR text The dump.
-- @column job VARCHAR text The job: folder, and file name without the rank.
-- @column rank BIGINT id Rank; NULL if the name of the file has none.
-- @column world_size BIGINT count Ranks of the job; NULL if not recorded.
-- @column dumps BIGINT count Dumps of the job in the store.
-- @column is_used BOOLEAN flag False for a dump without a rank, and for an older one of the same
--   rank.
-- @column records BIGINT count Records.
-- @column first_record BIGINT id Number of the first record that the buffer holds.
-- @column is_rolled BOOLEAN flag Whether earlier records were overwritten.
-- @column pending BIGINT count Records that have not completed.
-- @column start_ns BIGINT ns Unix time of the first record.
-- @column end_ns BIGINT ns Unix time of the last thing recorded.
SELECT
    d.trace_id, d.job, d.rank, d.world_size,
    count(*) OVER (PARTITION BY d.job) AS dumps,
    d.is_used,
    coalesce(r.records, 0) AS records,
    r.first_record,
    (r.first_record > 0) IS TRUE AS is_rolled,
    coalesce(r.pending, 0) AS pending,
    d.start_ns, d.end_ns
FROM _flight_jobs d
LEFT JOIN (
    SELECT
        trace_id, count(*) AS records, min(record_id) AS first_record,
        count(*) FILTER (WHERE state IS DISTINCT FROM 'completed') AS pending
    FROM flight_records
    GROUP BY trace_id
) r ON r.trace_id = d.trace_id
