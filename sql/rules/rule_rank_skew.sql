-- Rank skew: ranks of a job that compute for different lengths of time.
--
-- The value is how much longer the slowest rank computes than the mean. Computation of a rank is
-- the time within its steps in which a kernel other than communication runs, or, where no rank has
-- device work, in which no communication runs. Each trace of a job has the same row; the subject
-- names the slowest and the fastest rank. The rule needs several ranks with equally many steps in
-- the store.
-- Source: load balance as the mean over the maximum, turned around.
-- @scope store
-- @finding above 10 pct, high above 25: how much longer than the mean the slowest rank computes
-- @subject {ranks_compared}
-- @numerator ranks times the longest computation less the sum of all, ns
-- @denominator computation of all ranks, ns
-- @unmeasured Rank skew could not be measured.
-- @message The slowest of {ranks} ranks computes {value} % longer than the mean ({ranks_compared}:
--     {most_ns:ns} and {least_ns:ns}).
-- @advice Give all ranks the same amount of work (balanced shards, equal batch and sequence
--     lengths, even pipeline stages and experts); if the work is the same, look at the slow rank's
--     device.
-- @evidence SELECT rank, computation_ns, count(*) OVER () * max(computation_ns) OVER () -
--     sum(computation_ns) OVER () AS numerator, sum(computation_ns) OVER () AS denominator FROM
--     (SELECT b.rank, CASE WHEN bool_or(t.device_work > 0) OVER () THEN s.device_computation_ns
--     ELSE s.no_communication_ns END AS computation_ns FROM job_ranks a JOIN job_ranks b ON b.job =
--     a.job JOIN _rule_traces t ON t.trace_id = b.trace_id JOIN _step_shares s ON s.trace_id =
--     b.trace_id WHERE a.trace_id = {trace_id}) ORDER BY rank
WITH ranks AS (
    SELECT
        t.trace_id, t.rank, t.format, t.too_little_reason, t.no_rank_reason, j.job,
        j.rank AS job_rank, s.steps,
        CASE
            WHEN bool_or(t.device_work > 0) OVER (PARTITION BY j.job) THEN s.device_computation_ns
            ELSE s.no_communication_ns
        END AS computation_ns
    FROM _rule_traces t
    LEFT JOIN job_ranks j ON j.trace_id = t.trace_id
    LEFT JOIN _step_shares s ON s.trace_id = t.trace_id
),
jobs AS (
    SELECT
        *, count(*) OVER job AS ranks, max(too_little_reason) OVER job AS too_little,
        min(steps) OVER job = max(steps) OVER job AND count(steps) OVER job = count(*) OVER job
            AS is_even,
        sum(computation_ns) OVER job AS sum_ns, max(computation_ns) OVER job AS most_ns,
        min(computation_ns) OVER job AS least_ns,
        first_value(job_rank) OVER (PARTITION BY job ORDER BY computation_ns DESC, job_rank)
            AS slowest,
        first_value(job_rank) OVER (PARTITION BY job ORDER BY computation_ns, job_rank) AS fastest
    FROM ranks
    WINDOW job AS (PARTITION BY job)
)
SELECT
    trace_id, rank, ranks * most_ns - sum_ns AS numerator, sum_ns AS denominator, most_ns, least_ns,
    ranks, 'rank ' || CAST(slowest AS VARCHAR) || ' against rank ' || CAST(fastest AS VARCHAR)
        AS ranks_compared,
    CASE
        WHEN format = 'mllm_perf' THEN 'A perf.json recording is of one process.'
        WHEN job IS NULL THEN no_rank_reason
        WHEN ranks = 1 THEN 'The store has no other rank of this job; ingest the files of all '
            || 'ranks from one folder.'
        WHEN NOT coalesce(is_even, false) THEN 'The ranks of the job do not have equally many '
            || 'whole steps: record the same steps on all of them.'
        WHEN coalesce(sum_ns, 0) = 0 THEN 'No rank has computation in its steps.'
        ELSE too_little
    END AS reason
FROM jobs
