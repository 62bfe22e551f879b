-- Communication: steps that wait for collectives while no computation runs.
--
-- Communication is kernels of that class, marks of gloo, mpi and ucc on the host, and marks of NCCL
-- where the trace has no device work. Kernels that could not be classified count as computation; if
-- the value would pass the limit with all of them as communication, the rule is not measurable. A
-- trace without collectives is ok unless it says that it is one of several ranks.
-- Source: the communication rule of Perfessor, split into exposed and hidden as Holistic Trace
--     Analysis does.
-- @scope trace
-- @finding above 20 pct, high above 40: share of step time in exposed communication
-- @numerator communication beside which no computation runs, ns
-- @denominator length of all steps, ns
-- @unmeasured Communication could not be measured.
-- @message Exposed communication takes {value} % of {span}: {numerator:ns} of {denominator:ns};
--     {hidden_ns:ns} more are hidden by computation[; up to {at_most_pct:1} % if all unclassified
--     kernels communicate].
-- @advice Overlap it with the backward pass (DistributedDataParallel with gradient_as_bucket_view
--     and fitting bucket_cap_mb, FSDP prefetch), accumulate gradients over several batches or
--     compress them; see collective_waits for waiting that is not transfer.
-- @evidence SELECT r.collective, r.place, r.calls, r.total_ns, w.numerator, w.denominator FROM
--     (SELECT exposed_communication_ns AS numerator, total_ns AS denominator FROM _step_shares
--     WHERE trace_id = {trace_id}) w LEFT JOIN (SELECT collective, place, count(*) AS calls,
--     sum(dur_ns) AS total_ns FROM collectives WHERE trace_id = {trace_id} GROUP BY collective,
--     place) r ON true ORDER BY r.total_ns DESC
SELECT
    t.trace_id, t.rank, s.exposed_communication_ns AS numerator, s.total_ns AS denominator,
    s.denominator_name, s.span, s.communication_ns - s.exposed_communication_ns AS hidden_ns,
    CASE
        WHEN s.exposed_communication_max_ns > s.exposed_communication_ns
            THEN 100.0 * s.exposed_communication_max_ns / s.total_ns
    END AS at_most_pct,
    CASE
        WHEN s.communication_ns = 0 AND s.is_marked
            THEN 'No collectives were recorded in the steps.'
        WHEN s.communication_ns = 0 THEN 'No collectives were recorded.'
    END AS message,
    CASE
        WHEN t.format = 'xplane' THEN 'Overlap it with computation (on GPUs the latency-hiding '
            || 'scheduler: XLA_FLAGS=--xla_gpu_enable_latency_hiding_scheduler=true), accumulate '
            || 'gradients over several batches or compress them; see collective_waits for waiting '
            || 'that is not transfer.'
        WHEN t.format <> 'kineto' THEN 'Overlap it with computation, in training with the backward '
            || 'pass, accumulate gradients over several batches or compress them; see '
            || 'collective_waits for waiting that is not transfer.'
    END AS advice,
    CASE
        WHEN t.format = 'mllm_perf' THEN 'A perf.json recording has no collectives.'
        WHEN a.how_to_record IS NULL THEN t.no_device_reason
        WHEN coalesce(s.total_ns, 0) = 0
            THEN concat('The trace has no steps and no operators', a.hint)
        WHEN s.communication_ns = 0 AND t.world_size > 1 THEN concat(
            'The trace is one of several ranks, but ',
            CASE
                WHEN s.is_marked THEN 'no collective lies in its steps'
                ELSE 'it has no collectives'
            END,
            ': record the host and the device, over whole steps.')
        WHEN 100.0 * s.exposed_communication_ns <= setting('rule_communication_pct') * s.total_ns
            AND 100.0 * s.exposed_communication_max_ns
                > setting('rule_communication_pct') * s.total_ns
            THEN concat(
                'Kernels that could not be classified run for ', format_ns(s.unclassified_ns),
                ' of ', s.span, ': exposed communication is between ',
                round(100.0 * s.exposed_communication_ns / s.total_ns, 1), ' and ',
                round(100.0 * s.exposed_communication_max_ns / s.total_ns, 1),
                ' %. See unclassified_kernels, and name them by rules of your own: '
                    || 'tracesql docs kernel_classification says how.')
        ELSE t.too_little_reason
    END AS reason
FROM _rule_traces t
LEFT JOIN _step_shares s ON s.trace_id = t.trace_id
LEFT JOIN _record_advice a ON a.trace_id = t.trace_id AND a.information = 'steps'
