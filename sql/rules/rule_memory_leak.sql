-- Memory leak: memory that grows from step to step.
--
-- The value is the slope of the line through what is allocated at the end of each step, in bytes
-- per step, as memory_leak has it. That view's settings hold the limits
-- (memory_leak_bytes_per_step, memory_leak_min_steps, memory_leak_min_r2). It is a finding if its
-- verdict is leak: high on a device, medium on the host. There is one row for each device with
-- memory records.
-- Source: the leak rule of PRISM's training profiler, with a test of the fit.
-- @scope trace
-- @finding above memory_leak_bytes_per_step bytes
-- @column device BIGINT id Device number; -1 is the host; NULL if not recorded.
-- @column subject VARCHAR text Kind of device: cpu, cuda, …; NULL without memory records.
-- @unmeasured Whether memory leaks could not be measured.
-- @message Memory allocated at the end of a step on {place}{direction}{growth_bytes:bytes} a step
--     over {steps} steps (from {first_bytes:bytes} to {last_bytes:bytes}[, r2 {r2:2}]).
-- @advice Look for tensors that outlive their step: losses collected without .item() or .detach(),
--     lists, caches, closures, retained graphs; allocations_across_steps lists them with the
--     operator and module that made them.
-- @evidence SELECT step, device_type, device, max(allocated_bytes) AS most_bytes,
--     last_value(allocated_bytes ORDER BY record) AS end_bytes FROM memory_curve WHERE step IS NOT
--     NULL AND trace_id = {trace_id} GROUP BY step, device_type, device ORDER BY device_type,
--     device, step
WITH stepped AS (SELECT DISTINCT trace_id FROM steps)
SELECT
    t.trace_id, t.rank, l.device, l.device_type AS subject, l.steps, l.first_bytes, l.last_bytes,
    l.slope_bytes AS value, abs(l.slope_bytes) AS growth_bytes, l.verdict = 'leak' AS is_finding,
    l.r2,
    concat(
        CASE
            -- Files of other profilers do not name the maker of a GPU with its memory.
            WHEN l.device_type IN ('cuda', 'hip') AND t.format <> 'kineto' THEN 'GPU'
            ELSE coalesce(l.device_type, 'the device')
        END,
        CASE WHEN l.device >= 0 THEN concat(' ', l.device) END) AS place,
    CASE WHEN l.slope_bytes < 0 THEN ' shrinks by ' ELSE ' grows by ' END AS direction,
    CASE WHEN l.device >= 0 THEN 'high' END AS severity,
    CASE
        WHEN t.format <> 'kineto' THEN 'Look for memory that outlives its step: results that are '
            || 'kept in lists, caches and closures; allocations_across_steps lists it.'
    END AS advice,
    CASE
        WHEN t.format = 'mllm_perf'
            THEN 'A perf.json recording has no steps; mllm_alive_blobs lists what was not freed.'
        WHEN t.format = 'torch_memory' THEN 'A memory snapshot has no steps; snapshot_leaks lists '
            || 'what was allocated between two marks and not freed.'
        WHEN l.trace_id IS NULL AND t.format = 'memory_timeline' THEN 'This memory timeline holds '
            || 'sizes over time; the raw form (.raw.json.gz) holds allocations.'
        WHEN l.trace_id IS NULL THEN concat('Memory was not recorded', a.hint)
        WHEN l.verdict = 'not measurable' AND t.format <> 'kineto' AND h.trace_id IS NULL
            THEN concat('The trace has no steps', p.hint)
        WHEN l.verdict = 'not measurable' AND l.steps < setting_int('memory_leak_min_steps')
            THEN concat(
                'Memory is known at the end of ', l.steps,
                CASE l.steps WHEN 1 THEN ' step; ' ELSE ' steps; ' END,
                setting_int('memory_leak_min_steps'), ' are needed: record more',
                CASE
                    WHEN t.format = 'kineto'
                        THEN ' with schedule(active=…) and profile_memory=True'
                    ELSE ' steps'
                END,
                ', or lower the setting memory_leak_min_steps.')
        WHEN l.verdict = 'not measurable' THEN concat(
            'The profiler wrote allocations without totals or frees',
            CASE WHEN t.format = 'kineto' THEN '; use PyTorch 1.10 or later' END, '.')
    END AS reason
FROM _rule_traces t
LEFT JOIN memory_leak l ON l.trace_id = t.trace_id
LEFT JOIN _record_advice a ON a.trace_id = t.trace_id AND a.information = 'memory'
LEFT JOIN _record_advice p ON p.trace_id = t.trace_id AND p.information = 'steps'
LEFT JOIN stepped h ON h.trace_id = t.trace_id
