-- DataParallel: one process feeds several devices through torch.nn.DataParallel.
--
-- The value is the number of devices that run kernels in a trace that calls DataParallel.forward,
-- and 0 in other traces. DataParallel copies the model to all devices in each step, runs them from
-- threads of one process that wait for each other's Python, and gathers results on one device.
-- DistributedDataParallel has a process for each device and exchanges gradients while they are
-- computed.
-- Source: the advice on DataParallel of torch-tb-profiler 0.4.3.
-- @scope trace
-- @finding above 1 count as devices: devices fed by DataParallel
-- @unmeasured Whether DataParallel feeds several devices could not be measured.
-- @message DataParallel feeds {fed} from one process: {calls:call takes|calls take} {dp_ns:ns} on
--     the host.
-- @advice Use DistributedDataParallel with a process for each device (torchrun --nproc_per_node):
--     it does not copy the model in each step, and exchanges gradients while they are computed.
-- @evidence SELECT device, count(*) AS kernels, sum(dur_ns) AS kernel_ns FROM kernels WHERE kind =
--     'kernel' AND trace_id = {trace_id} GROUP BY device ORDER BY device
WITH used AS (
    SELECT trace_id, count(DISTINCT device) AS devices
    FROM kernels
    WHERE kind = 'kernel'
    GROUP BY trace_id
)
SELECT
    t.trace_id, t.rank, coalesce(p.dp_calls, 0) AS calls, p.dp_ns,
    CASE WHEN p.dp_calls > 0 THEN coalesce(u.devices, 0) ELSE 0 END AS value,
    CASE coalesce(u.devices, 0)
        WHEN 0 THEN 'no device that is recorded'
        WHEN 1 THEN '1 device'
        ELSE concat(u.devices, ' devices')
    END AS fed,
    CASE WHEN coalesce(p.dp_calls, 0) = 0 THEN 'DataParallel is not used.' END AS message,
    CASE
        WHEN t.no_device_reason IS NOT NULL THEN t.no_device_reason
        WHEN p.trace_id IS NULL THEN concat('The trace has no operators', a.hint)
    END AS reason
FROM _rule_traces t
LEFT JOIN _parallel_calls p ON p.trace_id = t.trace_id
LEFT JOIN used u ON u.trace_id = t.trace_id
LEFT JOIN _record_advice a ON a.trace_id = t.trace_id AND a.information = 'operators'
