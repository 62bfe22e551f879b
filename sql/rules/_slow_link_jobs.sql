-- Jobs with waits that can be followed back to their causes, for rule_slow_links.
-- @scope store
-- @traces several
-- @column job VARCHAR text The job (job_ranks.job).
SELECT DISTINCT job FROM collective_calls WHERE method = 'clocks' AND status = 'complete'
