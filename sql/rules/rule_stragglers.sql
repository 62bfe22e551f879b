-- Stragglers: ranks that the other ranks of the job wait for in collectives.
--
-- The numerator is the waits of the other ranks in collectives in which this rank came last. The
-- value is the part of its time that each other rank waits for this one on average. There is a
-- finding only if each other rank waits more than rule_stragglers_ratio times as long for this one
-- as it waits itself: ranks that wait for each other in turn are not stragglers. The store must
-- have several ranks of the job whose collectives could be matched (collective_waits).
-- Source: waiting and transfer as in collective_waits.
-- @scope store
-- @finding above 5 pct, high above 15: share of time that other ranks wait for a rank
-- @setting rule_stragglers_ratio 2 ratio Waits for a rank by its own waits above which
--     rule_stragglers may have a finding.
-- @numerator waits of the other ranks for this one, ns
-- @denominator length of the trace times the other ranks, ns
-- @unmeasured Whether other ranks wait for this one could not be measured.
-- @message The other ranks wait for {subject} for {value} % of their time: {numerator:ns} in sum;
--     it was the last in {last_calls} of {calls:collective|collectives} and waited {wait_ns:ns}
--     itself.
-- @advice Compare this rank with the others: its data loading (step_time), its kernels
--     (kernels_by_name: a slower or hotter device takes longer for the same kernel), and how much
--     work it was given (shapes in operators_by_input).
-- @evidence SELECT r.rank, r.place, r.calls, r.last_calls, r.wait_ns, r.waited_for_ns, w.numerator,
--     w.denominator FROM (SELECT s.waited_for_ns AS numerator, t.duration_ns * (n.ranks - 1) AS
--     denominator FROM traces t CROSS JOIN (SELECT sum(waited_for_ns) AS waited_for_ns FROM
--     stragglers WHERE trace_id = {trace_id}) s CROSS JOIN (SELECT count(DISTINCT o.trace_id) AS
--     ranks FROM stragglers o JOIN (SELECT DISTINCT job FROM job_ranks WHERE trace_id = {trace_id})
--     j ON j.job = o.job) n WHERE t.trace_id = {trace_id}) w LEFT JOIN (SELECT s.* FROM stragglers
--     s JOIN (SELECT DISTINCT job FROM job_ranks WHERE trace_id = {trace_id}) j ON j.job = s.job) r
--     ON true ORDER BY r.rank, r.place
WITH ranks AS (
    SELECT
        trace_id, job, rank, sum(calls) AS calls, sum(last_calls) AS last_calls,
        sum(waited_for_ns) AS waited_for_ns, sum(wait_ns) AS wait_ns,
        count(*) OVER (PARTITION BY job) AS ranks
    FROM (SELECT trace_id, job, rank, calls, last_calls, waited_for_ns, wait_ns FROM stragglers)
    GROUP BY trace_id, job, rank
)
SELECT
    t.trace_id, t.rank, 'rank ' || CAST(r.rank AS VARCHAR) AS subject,
    r.waited_for_ns AS numerator, t.duration_ns * (r.ranks - 1) AS denominator, r.calls,
    r.last_calls, r.wait_ns,
    CASE
        WHEN r.waited_for_ns <= setting('rule_stragglers_ratio') * r.wait_ns * (r.ranks - 1)
            THEN false
    END AS is_finding,
    CASE
        WHEN t.format = 'mllm_perf' THEN 'A perf.json recording is of one process.'
        WHEN r.trace_id IS NOT NULL AND t.duration_ns > 0 AND r.ranks > 1 THEN t.too_little_reason
        WHEN j.trace_id IS NULL THEN 'The trace does not say which rank it is; initialise '
            || 'torch.distributed before the profiler starts, or put rank<N> into the name of the '
            || 'file.'
        WHEN j.ranks = 1 THEN 'The store has no other rank of this job; ingest the files of all '
            || 'ranks from one folder.'
        ELSE 'No collective of this rank could be matched with those of the others: record the '
            || 'same steps on all ranks.'
    END AS reason
FROM _rule_traces t
LEFT JOIN ranks r ON r.trace_id = t.trace_id
LEFT JOIN job_ranks j ON j.trace_id = t.trace_id
