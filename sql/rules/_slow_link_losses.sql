-- What a job loses to each slow link and each rank without a trace, for rule_slow_links. place is 1
-- for the largest loss.
-- @scope store
-- @traces several
SELECT
    job, rank, group_name, lost_ns, waits,
    count(*) OVER (PARTITION BY job) - 1 AS others,
    row_number() OVER (PARTITION BY job ORDER BY lost_ns DESC, group_name, rank) AS place
FROM straggler_ranks
WHERE verdict <> 'weak' AND (cause = 'transfer' OR status = 'trace missing')
