-- Traces as rules look at them: how much device work each has, and why rules about devices cannot be measured where it has none.
WITH device AS (
    SELECT trace_id, count(*) AS device_work, count(launch_id) AS linked_work
    FROM kernels
    WHERE kind IN ('kernel', 'memcpy', 'memset') AND dur_ns >= 0
    GROUP BY trace_id
)
SELECT
    t.trace_id, t.rank, t.format, t.world_size, t.duration_ns, coalesce(d.device_work, 0) AS device_work, coalesce(d.linked_work, 0) AS linked_work,
    CASE
        WHEN t.format = 'mllm_perf' THEN 'A perf.json recording holds memory and operations, no device activities; record a trace of the device for this.'
        WHEN d.device_work IS NULL AND t.format <> 'kineto' THEN 'The trace has no kernels, copies or fills, and is not of torch.profiler.'
        WHEN d.device_work IS NULL
            THEN 'The trace has no kernels, copies or fills: the program ran on the CPU, or the profiler did not record the device. '
                || 'Use activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA] on a machine with a GPU.'
    END AS no_device_reason
FROM traces t
LEFT JOIN device d ON d.trace_id = t.trace_id
