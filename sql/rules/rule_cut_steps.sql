-- Cut steps: steps at the end of the recording whose device work was not recorded whole.
--
-- step_time leaves out such steps of the host, whose device work is missing or much less than that
-- of the step before. Figures of steps do not count them.
-- Source: the steps of step_time, as torch-tb-profiler 0.4.3 takes them.
-- @scope trace
-- @finding info above 0 pct: share of cut steps
-- @numerator steps left out at the end
-- @denominator steps
-- @unmeasured Whether steps were cut off could not be measured.
-- @message The last {numerator} of {denominator} steps have too little device work and are left out
--     of the figures of steps: profiling ended before their work did.
-- @advice Synchronise before the profiler stops (torch.cuda.synchronize() at the end of the last
--     active step), or record one step more.
-- @evidence SELECT r.step, r.start_ns, r.end_ns, r.device_work, w.numerator, w.denominator FROM
--     (SELECT s.steps - t.whole AS numerator, s.steps AS denominator FROM (SELECT count(*) AS steps
--     FROM steps WHERE trace_id = {trace_id}) s CROSS JOIN (SELECT count(step) AS whole FROM
--     step_time WHERE trace_id = {trace_id}) t) w LEFT JOIN (SELECT s.step, s.start_ns, s.end_ns,
--     count(k.event_id) AS device_work FROM steps s LEFT JOIN kernels k ON k.trace_id = s.trace_id
--     AND k.step = s.step WHERE s.trace_id = {trace_id} GROUP BY s.step, s.start_ns, s.end_ns) r ON
--     true ORDER BY r.step
SELECT
    t.trace_id, t.rank, s.host_steps - s.steps AS numerator, s.host_steps AS denominator,
    CASE
        WHEN s.host_steps = s.steps AND s.host_steps = 1 THEN 'The one step is whole.'
        WHEN s.host_steps = s.steps THEN concat('All ', s.host_steps, ' steps are whole.')
        WHEN s.host_steps - s.steps = 1 THEN concat(
            'The last of ', s.host_steps, ' steps has too little device work and is left out of ',
            'the figures of steps: profiling ended before its work did.')
    END AS message,
    CASE
        WHEN t.format <> 'kineto' THEN 'Wait for the device at the end of the last step, before '
            || 'the profiler stops, or record one step more.'
    END AS advice,
    CASE
        WHEN a.how_to_record IS NULL OR NOT coalesce(s.is_marked, false)
            THEN concat('The trace has no steps', a.hint)
    END AS reason
FROM _rule_traces t
LEFT JOIN _step_shares s ON s.trace_id = t.trace_id
LEFT JOIN _record_advice a ON a.trace_id = t.trace_id AND a.information = 'steps'
