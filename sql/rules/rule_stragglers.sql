-- Stragglers: ranks that the other ranks of the job wait for in collectives.
--
-- Where the clocks of the ranks can be aligned, waits are followed back to their causes, and there
-- is a finding only for ranks whose activities take clearly longer than usual (straggler_ranks).
-- The numerator is then the waits in collectives in which this rank came last, as far as others
-- waited during such activities of it, or the waits that are due to it in any collectives, if that
-- is more. A rank that comes last only because it waited itself is no straggler. Without common
-- clocks it is the waits in collectives in which this rank came last, and there is a finding only
-- if each other rank waits more than rule_stragglers_ratio times as long for this one as it waits
-- itself, because ranks that wait for each other in turn are not stragglers. The value is the part
-- of its time that each other rank waits for this one on average. The store must have several ranks
-- of the job whose collectives could be matched (collective_calls).
-- Source: waits as in collective_members, causes as in collective_causes.
-- @scope store
-- @finding above 5 pct, high above 15: share of time that other ranks wait for a rank
-- @setting rule_stragglers_ratio 2 ratio Waits for a rank by its own waits above which
--     rule_stragglers may have a finding where the clocks of the ranks cannot be aligned.
-- @numerator waits of the other ranks for this one, ns
-- @denominator length of the trace times the other ranks, ns
-- @unmeasured Whether other ranks wait for this one could not be measured.
-- @message The other ranks wait for {subject} for {value} % of their time{why}: {numerator:ns} in
--     sum; it was the last in {last_calls} of {calls:collective|collectives} and waited
--     {wait_ns:ns} itself[; the waits in {not_measured:other collective|other collectives} are
--     not known].
-- @advice Look at the rank in straggler_steps and rank_step_heat, and at its path in
--     job_critical_path; job_what_if forecasts the steps without it. For computation compare its
--     kernels and the work it was given (kernels_by_name, shapes in operators_by_input), and the
--     clocks and temperature of its device.
-- @evidence SELECT s.rank, s.place, s.calls, s.last_calls, s.wait_ns, s.waited_for_ns, b.cause,
--     b.lost_ns, b.charge_ns, max(w.numerator) OVER () AS numerator, max(w.denominator) OVER () AS
--     denominator FROM stragglers s JOIN job_ranks j ON j.job = s.job AND j.trace_id = {trace_id}
--     LEFT JOIN straggler_ranks b ON b.job = s.job AND b.rank = s.rank AND b.verdict <> 'weak' LEFT
--     JOIN _straggler_waits w ON w.trace_id = s.trace_id AND w.trace_id = {trace_id} ORDER BY
--     s.rank,
--     s.place, b.cause
SELECT
    t.trace_id, t.rank, 'rank ' || CAST(r.rank AS VARCHAR) AS subject,
    r.numerator, r.denominator, r.calls, r.last_calls, r.wait_ns,
    nullif(r.not_measured, 0) AS not_measured,
    CASE r.cause
        WHEN 'compute' THEN ', because its kernels take longer'
        WHEN 'copy' THEN ', because its copies take longer'
        WHEN 'data_loading' THEN ', because its data comes later'
        WHEN 'host_late' THEN ', because its host is late'
        ELSE ''
    END AS why,
    CASE
        WHEN r.is_followed AND r.cause IS NULL THEN false
        WHEN NOT r.is_followed
            AND r.waited_for_ns <= setting('rule_stragglers_ratio') * r.wait_ns * (r.ranks - 1)
            THEN false
    END AS is_finding,
    CASE
        WHEN t.format = 'mllm_perf' THEN 'A perf.json recording is of one process.'
        WHEN r.trace_id IS NOT NULL AND t.duration_ns > 0 AND r.ranks > 1 THEN t.too_little_reason
        WHEN j.trace_id IS NULL THEN t.no_rank_reason
        WHEN j.ranks = 1 THEN 'The store has no other rank of this job; ingest the files of all '
            || 'ranks from one folder.'
        ELSE 'No collective of this rank could be matched with those of the others: record the '
            || 'same steps on all ranks.'
    END AS reason
FROM _rule_traces t
LEFT JOIN _straggler_waits r ON r.trace_id = t.trace_id
LEFT JOIN job_ranks j ON j.trace_id = t.trace_id
