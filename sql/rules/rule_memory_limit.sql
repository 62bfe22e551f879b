-- Memory limit: devices whose memory is nearly full at the peak.
--
-- There is one row for each device whose size is known.
-- Source: the memory recommendation of torch-tb-profiler 0.4.3.
-- @scope trace
-- @finding above 90 pct, high above 97: share of a device's memory in use at the peak
-- @numerator most memory allocated at once, bytes
-- @denominator memory of the device, bytes
-- @unmeasured How full the device's memory is could not be measured.
-- @message At its peak {value} % of the memory of device {device} is allocated: {numerator:bytes}
--     of {denominator:bytes}.
-- @advice Checkpoint activations, use mixed precision, shard the optimizer, or lower the batch
--     size; peak_composition says what held the memory.
-- @evidence SELECT device, peak_ts_ns, peak_allocated_bytes AS numerator, total_memory_bytes AS
--     denominator FROM memory_peak WHERE trace_id = {trace_id} AND (device IS NOT DISTINCT FROM
--     {device})
WITH peaks AS (
    SELECT
        trace_id, device, max(peak_allocated_bytes) AS peak_bytes,
        max(total_memory_bytes) AS memory_bytes
    FROM memory_peak
    WHERE total_memory_bytes > 0 AND device >= 0
    GROUP BY trace_id, device
),
recorded AS (
    SELECT
        trace_id, count(*) FILTER (WHERE device >= 0) AS device_records,
        count(*) FILTER (WHERE device < 0) AS host_records
    FROM memory
    GROUP BY trace_id
)
SELECT
    t.trace_id, t.rank, p.device, p.peak_bytes AS numerator, p.memory_bytes AS denominator,
    CASE
        WHEN p.trace_id IS NOT NULL THEN NULL
        WHEN t.format = 'mllm_perf'
            THEN 'A perf.json recording does not say how much memory a device has.'
        WHEN t.format = 'torch_memory'
            THEN 'A memory snapshot does not say how much memory the device has.'
        WHEN r.trace_id IS NULL AND t.format = 'memory_timeline' THEN 'This memory timeline holds '
            || 'sizes over time; the raw form (.raw.json.gz) holds allocations.'
        WHEN r.trace_id IS NULL THEN concat('Memory was not recorded', a.hint)
        WHEN r.device_records = 0 AND r.host_records > 0
            THEN 'Only memory of the host was recorded.'
        WHEN r.device_records = 0
            THEN 'The trace does not say on which device the memory is.'
        WHEN t.format = 'kineto'
            THEN 'The trace does not say how much memory the device has (deviceProperties).'
        ELSE 'The trace does not say how much memory the device has.'
    END AS reason
FROM _rule_traces t
LEFT JOIN recorded r ON r.trace_id = t.trace_id
LEFT JOIN peaks p ON p.trace_id = t.trace_id
LEFT JOIN _record_advice a ON a.trace_id = t.trace_id AND a.information = 'memory'
