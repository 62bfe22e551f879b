-- Memory fragmentation: memory that the allocator holds and does not use at the peak.
--
-- Both parts are taken when allocation reaches its peak (memory_peak, memory_fragmentation). There
-- is one row for each device whose allocator reserves memory.
-- Source: reserved and allocated as PyTorch's caching allocator defines them; Perfessor names this
--     rule and does not have it.
-- @scope trace
-- @finding above 20 pct, high above 50: share of reserved memory unused at the peak
-- @setting rule_memory_fragmentation_bytes 100000000 bytes Unused memory below which
--     rule_memory_fragmentation has no finding.
-- @numerator reserved less allocated at the peak, bytes
-- @denominator reserved at the peak, bytes
-- @unmeasured Memory fragmentation could not be measured.
-- @message When device {device} has most memory allocated, its allocator holds {numerator:bytes}
--     more ({value} % of the {denominator:bytes} that are reserved).
-- @advice Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, avoid sizes that change from step
--     to step (pad or bucket inputs), and allocate large buffers first; if the rest of an earlier
--     peak is held, torch.cuda.empty_cache() after warm-up gives it back.
-- @evidence SELECT device, step, ts_ns, allocated_bytes, reserved_bytes, unused_pct, unused_bytes
--     AS numerator, reserved_bytes AS denominator FROM memory_fragmentation WHERE is_peak AND
--     trace_id = {trace_id} AND (device IS NOT DISTINCT FROM {device})
WITH recorded AS (SELECT DISTINCT trace_id FROM memory),
peaks AS (
    SELECT *, reserved_at_peak_bytes - peak_allocated_bytes AS unused_bytes
    FROM memory_peak
    WHERE reserved_at_peak_bytes > 0
)
SELECT
    t.trace_id, t.rank, p.device, p.unused_bytes AS numerator,
    p.reserved_at_peak_bytes AS denominator,
    CASE WHEN p.unused_bytes < setting('rule_memory_fragmentation_bytes') THEN false END
        AS is_finding,
    CASE
        WHEN t.format NOT IN ('kineto', 'torch_memory') THEN 'Avoid sizes that change from step to '
            || 'step (pad or bucket inputs), and allocate large buffers first.'
    END AS advice,
    CASE
        WHEN p.trace_id IS NOT NULL THEN NULL
        WHEN t.format = 'mllm_perf' THEN 'A perf.json recording has no totals of an allocator.'
        WHEN t.format = 'memory_timeline' THEN 'A memory timeline has no totals of an allocator.'
        WHEN r.trace_id IS NULL THEN concat('Memory was not recorded', a.hint)
        WHEN t.format NOT IN ('kineto', 'torch_memory')
            THEN 'The trace has no totals of an allocator that reserves memory.'
        ELSE 'No allocator that reserves memory wrote its totals: the program ran on the CPU, or '
            || 'PyTorch is older than 1.10.'
    END AS reason
FROM _rule_traces t
LEFT JOIN recorded r ON r.trace_id = t.trace_id
LEFT JOIN peaks p ON p.trace_id = t.trace_id
LEFT JOIN _record_advice a ON a.trace_id = t.trace_id AND a.information = 'memory'
