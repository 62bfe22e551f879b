-- What a job loses to each slow link and each rank without a trace, for rule_slow_links. place is 1
-- for the largest loss.
-- @scope store
-- @traces several
-- @column job VARCHAR text The job (job_ranks.job).
-- @column rank BIGINT id The rank without a trace; NULL for a link.
-- @column group_name VARCHAR text The group of the link; NULL for ranks, or if it has no name.
-- @column lost_ns BIGINT ns Waits of all ranks that are due to it.
-- @column waits BIGINT count Waits that lost_ns consists of.
-- @column others BIGINT count The other links and ranks of the job that are slow.
-- @column place BIGINT id 1 for the largest loss of the job.
SELECT
    job, rank, group_name, lost_ns, waits,
    count(*) OVER (PARTITION BY job) - 1 AS others,
    CAST(
        row_number() OVER (PARTITION BY job ORDER BY lost_ns DESC, group_name, rank) AS BIGINT
    ) AS place
FROM straggler_ranks
WHERE verdict <> 'weak' AND (cause = 'transfer' OR status = 'trace missing')
