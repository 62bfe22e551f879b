-- Data loading: steps in which the program waits for its next batch and nothing else goes on.
--
-- A DataLoader is asked for its next batch (enumerate(DataLoader)#…, enumerate(DataPipe)#…) while
-- no kernel, copy, fill, collective or runtime call runs, as in step_time.dataloader_ns. Loops that
-- fetch batches in other ways do not record when they do, so they are not measurable.
-- Source: the DataLoader rule of Perfessor, on wall time instead of a sum that counts nested events
--     twice.
-- @scope trace
-- @finding above 10 pct, high above 25: share of step time in data loading
-- @numerator data loading that nothing hides, ns
-- @denominator length of all steps, ns
-- @unmeasured Data loading could not be measured.
-- @message Data loading takes {value} % of {span}: {numerator:ns} of {denominator:ns}[ in
--     {steps:step|steps}] in which nothing else goes on (with what other work hides:
--     {data_loading_ns:ns}).
-- @advice Load data in worker processes (num_workers), with pin_memory=True and
--     persistent_workers=True; if workers are there, give them less to do per sample, or more of
--     them.
-- @evidence SELECT r.step, r.total_ns, r.dataloader_ns, w.numerator, w.denominator FROM (SELECT
--     exposed_data_loading_ns AS numerator, total_ns AS denominator FROM _step_shares WHERE
--     trace_id = {trace_id}) w LEFT JOIN (SELECT * FROM step_time WHERE trace_id = {trace_id}) r ON
--     true ORDER BY r.dataloader_ns DESC
SELECT
    t.trace_id, t.rank, s.exposed_data_loading_ns AS numerator, s.total_ns AS denominator,
    s.denominator_name, s.span, s.data_loading_ns, CASE WHEN s.is_marked THEN s.steps END AS steps,
    CASE
        WHEN t.format <> 'kineto' THEN 'Load batches in other threads or processes, ahead of the '
            || 'step that needs them; if that is done, give them less to do per sample, or use '
            || 'more of them.'
    END AS advice,
    CASE
        WHEN t.format = 'mllm_perf' THEN 'A perf.json recording has no data loading; record the '
            || 'training loop with torch.profiler.'
        WHEN a.how_to_record IS NULL THEN t.no_device_reason
        WHEN coalesce(s.total_ns, 0) = 0
            THEN concat('The trace has no steps and no operators', a.hint)
        WHEN s.data_loading_ns = 0 THEN concat(
            CASE
                WHEN s.is_marked THEN 'No call of a DataLoader lies in the steps: the loop does '
                    || 'not iterate over one, or fetched its batches outside.'
                ELSE 'The trace has no call of a DataLoader.'
            END,
            CASE
                WHEN t.format = 'kineto' THEN ' Put other loaders into '
                    || 'record_function("enumerate(DataLoader)#Name.__next__").'
                ELSE ' A range named enumerate(DataLoader)#Name.__next__ around the loader counts '
                    || 'as one.'
            END)
        ELSE t.too_little_reason
    END AS reason
FROM _rule_traces t
LEFT JOIN _step_shares s ON s.trace_id = t.trace_id
LEFT JOIN _record_advice a ON a.trace_id = t.trace_id AND a.information = 'steps'
