-- Traces as rules see them: the amount of device work, the reason why rules about devices cannot be
-- measured without it, and the reason why shares of it are not meaningful.
--
-- too_little_reason is for rules about shares, which are not measurable if it is set: a few
-- kernels, or less than rule_min_duration_ns, show how the recording began and not how the program
-- runs. Rules about facts, such as lost elements or full memory, do not use it.
--
-- no_rank_reason is for rules about jobs, where the trace belongs to none. calls_hint ends a sentence
-- which says that calls of the runtime are missing.
-- @scope trace
WITH device AS (
    SELECT trace_id, count(*) AS device_work, count(launch_id) AS linked_work
    FROM kernels
    WHERE kind IN ('kernel', 'memcpy', 'memset') AND dur_ns >= 0
    GROUP BY trace_id
)
SELECT
    t.trace_id, t.rank, t.format, t.world_size, t.duration_ns,
    concat(
        'The trace does not say which rank it is; ',
        CASE
            WHEN t.format IN (
                'kineto', 'torch_memory', 'flight_recorder', 'execution_trace', 'memory_timeline'
            ) THEN 'initialise torch.distributed before the profiler starts, or '
        END,
        'put rank<N> into the name of the file.') AS no_rank_reason,
    CASE
        WHEN t.format = 'kineto'
            THEN '; record ProfilerActivity.CPU and ProfilerActivity.CUDA together.'
        WHEN t.format = 'nsys'
            THEN '; use nsys profile --trace=cuda, started a step before the one of interest.'
        WHEN t.format IN ('rocpd', 'rocprofv3')
            THEN '; use rocprofv3 --hip-runtime-trace --kernel-trace.'
        ELSE '.'
    END AS calls_hint,
    coalesce(d.device_work, 0) AS device_work, coalesce(d.linked_work, 0) AS linked_work,
    CASE
        WHEN t.format = 'mllm_perf' THEN 'A perf.json recording holds memory and operations, no '
            || 'device activities; record a trace of the device for this.'
        WHEN t.format = 'torch_memory' THEN 'A memory snapshot holds the allocator only, no device '
            || 'activities; record a trace with torch.profiler for this.'
        WHEN t.format = 'flight_recorder' THEN 'A flight recorder dump holds the last collectives '
            || 'of a rank, no device activities; flight_hangs says what the job hangs on.'
        WHEN t.format = 'execution_trace' THEN 'An execution trace has no times; record a trace of '
            || 'the same run with torch.profiler, which et_events joins with it.'
        WHEN t.format = 'memory_timeline' THEN 'A memory timeline holds memory only; give the '
            || 'trace of the same run, which export_chrome_trace writes.'
        WHEN t.format = 'stacks' THEN 'A file of stacks holds samples only, no device activities.'
        WHEN d.device_work IS NULL AND t.format <> 'kineto'
            THEN 'The trace has no kernels, copies or fills, and is not of torch.profiler.'
        WHEN d.device_work IS NULL THEN 'The trace has no kernels, copies or fills: the program '
            || 'ran on the CPU, or the profiler did not record the device. Use activities='
            || '[ProfilerActivity.CPU, ProfilerActivity.CUDA] on a machine with a GPU.'
    END AS no_device_reason,
    CASE
        WHEN d.device_work < setting_int('rule_min_device_work')
            THEN concat(
                'The trace has ', d.device_work,
                CASE d.device_work
                    WHEN 1 THEN ' kernel, copy or fill'
                    ELSE ' kernels, copies and fills'
                END, ' in ',
                format_ns(t.duration_ns), ', fewer than ', setting_int('rule_min_device_work'),
                ' (setting rule_min_device_work): too few to judge shares by; record whole steps.')
        WHEN t.duration_ns < setting_int('rule_min_duration_ns')
            THEN concat(
                'The trace is ', format_ns(t.duration_ns), ' long, less than ',
                format_ns(setting_int('rule_min_duration_ns')), ' (setting rule_min_duration_ns): ',
                'too short to judge shares by; record whole steps.')
    END AS too_little_reason
FROM traces t
LEFT JOIN device d ON d.trace_id = t.trace_id
