-- Slow links: groups of ranks whose exchanges take longer than usual; and ranks without a trace
-- that the others wait for. Ranks with a trace are the matter of rule_stragglers.
--
-- Waits are followed back to their causes (collective_causes), and count as far as the exchange, or
-- what the rank did between two collectives, took longer than usual (straggler_ranks). The value is
-- the part of the time of all recorded ranks that is lost to the link or rank with the largest
-- loss. Each trace of a job has the same row. The clocks of the ranks must be aligned.
-- Source: straggler_ranks, causes transfer and not_recorded.
-- @scope store
-- @finding above 5 pct, high above 15: share of the time of all ranks lost to a link or rank
-- @subject {lost_to}
-- @numerator waits of all ranks that are due to it, ns
-- @denominator length of the traces of all ranks, ns
-- @unmeasured Whether ranks wait for slow links could not be measured.
-- @message The ranks wait for {lost_to} for {value} % of their time: {numerator:ns} in
--     {waits:wait|waits}[; {others:other link or missing rank costs|other links or missing ranks
--     cost} time too].
-- @advice For a link compare the bus bandwidth of its group with that of the others
--     (bus_bandwidth_gb_s in collective_calls), and look at cables, switches, and the topology and
--     algorithm that NCCL chose (NCCL_DEBUG=INFO). For a rank without a trace record the rank too.
-- @evidence SELECT b.rank, b.group_name, b.cause, b.verdict, b.lost_ns, b.waits, least(max(CASE
--     WHEN b.verdict <> 'weak' AND (b.cause = 'transfer' OR b.status = 'trace missing') THEN
--     b.lost_ns ELSE 0 END) OVER (), d.denominator) AS numerator, d.denominator FROM (SELECT
--     a.job, CAST(sum(t.duration_ns) AS BIGINT) AS denominator FROM job_ranks a JOIN traces t ON
--     t.trace_id = a.trace_id GROUP BY a.job) d JOIN job_ranks j ON j.job = d.job AND j.trace_id
--     = {trace_id} LEFT JOIN straggler_ranks b ON b.job = d.job ORDER BY b.lost_ns DESC
WITH jobs AS (
    SELECT j.job, count(*) AS ranks, CAST(sum(t.duration_ns) AS BIGINT) AS all_ns
    FROM job_ranks j
    JOIN traces t ON t.trace_id = j.trace_id
    GROUP BY j.job
)
SELECT
    t.trace_id, t.rank,
    least(coalesce(l.lost_ns, 0), g.all_ns) AS numerator,
    g.all_ns AS denominator,
    CASE
        WHEN l.job IS NULL THEN 'slow links or missing ranks'
        WHEN l.rank IS NOT NULL THEN 'rank ' || CAST(l.rank AS VARCHAR) || ' (no trace)'
        WHEN l.group_name IS NULL THEN 'the link of a group without a name'
        ELSE 'the link of group ' || l.group_name
    END AS lost_to,
    coalesce(l.waits, 0) AS waits,
    nullif(l.others, 0) AS others,
    CASE
        WHEN t.format = 'xplane' THEN 'For a link compare the bus bandwidth of its group with that '
            || 'of the others (bus_bandwidth_gb_s in collective_calls), and look at cables, '
            || 'switches and the topology. For a rank without a trace record the rank too.'
    END AS advice,
    CASE
        WHEN t.format = 'mllm_perf' THEN 'A perf.json recording is of one process.'
        WHEN j.trace_id IS NULL THEN t.no_rank_reason
        WHEN g.ranks = 1 THEN 'The store has no other rank of this job; ingest the files of all '
            || 'ranks from one folder.'
        WHEN f.job IS NULL THEN 'No collective of this job is complete, with the clocks of all '
            || 'members aligned: record the same steps on all ranks.'
        WHEN coalesce(g.all_ns, 0) = 0 THEN 'The traces of the job have no length.'
        ELSE t.too_little_reason
    END AS reason
FROM _rule_traces t
LEFT JOIN job_ranks j ON j.trace_id = t.trace_id
LEFT JOIN jobs g ON g.job = j.job
LEFT JOIN _slow_link_jobs f ON f.job = j.job
LEFT JOIN _slow_link_losses l ON l.job = j.job AND l.place = 1
