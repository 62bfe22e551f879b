-- Segments of device timelines: on the exact clock, and in the microseconds of torch-tb-profiler
-- 0.4.3, whose steps and buckets differ.
-- @expand _gpu_segments unit="ns" from="ts_ns" work="_device_work" last="max(end_ns)"
--   steps="_steps" window="_profile_window"
-- @expand _tb_gpu_segments unit="us" from="start_us" work="_tb_work"
--   last="last_value(end_us ORDER BY ordinal)" steps="_tb_steps" window="_tb_profile_window"
--   tensorboard
--
-- @if tensorboard
-- Like _gpu_segments, with the times, steps and buckets of torch-tb-profiler 0.4.3.
-- @else
-- Periods on each device in which the same kernels run, cut at the ends of the steps and of the
-- buckets of the profiled time.
--
-- in_steps marks the time from the start of the first step to the end of the last. bucket is NULL
-- outside the profiled time. sm_level is the sum of blocks per multiprocessor of the running
-- kernels, at most 1. has_blocks is true if at least one of them has that figure.
-- @end
-- @scope trace
WITH work AS (
    SELECT
        trace_id, device, {from}, end_{unit},
        CASE WHEN blocks_per_sm > 0 THEN blocks_per_sm END AS blocks
    FROM {work}
    WHERE kind = 'kernel' AND device IS NOT NULL
),
devices AS (
    SELECT DISTINCT trace_id, device FROM kernels WHERE kind = 'kernel' AND device IS NOT NULL
),
ends AS (
    SELECT trace_id, min(start_{unit}) AS start_{unit}, {last} AS end_{unit}
    FROM {steps}
    GROUP BY trace_id
),
edges AS (SELECT *, unnest(generate_series(0, buckets)) AS i FROM {window}),
-- Running sums of the columns describe the current state: kernels, their blocks, kernels with
-- blocks, whether it is within the steps, and the bucket from 1.
points AS (
    SELECT trace_id, device, {from} AS at, 1 AS running, blocks, 1 AS sign, 0 AS step, 0 AS bucket
    FROM work
    UNION ALL
    SELECT trace_id, device, end_{unit}, -1, 0.0 - blocks, -1, 0, 0 FROM work
    UNION ALL
    SELECT
        d.trace_id, d.device,
        unnest([e.start_{unit}, e.end_{unit}]),
        0, NULL, 0, unnest([1, -1]), 0
    FROM devices d
    JOIN ends e ON e.trace_id = d.trace_id
    UNION ALL
    SELECT
        d.trace_id, d.device,
        CASE WHEN e.i = e.buckets THEN e.end_{unit} ELSE e.start_{unit} + e.i * e.bucket_{unit} END,
        0, NULL, 0, 0,
        CASE WHEN e.i = e.buckets THEN 0 - e.buckets ELSE 1 END
    FROM devices d
    JOIN edges e ON e.trace_id = d.trace_id
),
instants AS (
    SELECT
        trace_id, device, at,
        sum(running) AS running,
        sum(blocks) AS blocks,
        sum(CASE WHEN blocks IS NOT NULL THEN sign ELSE 0 END) AS with_blocks,
        sum(step) AS step,
        sum(bucket) AS bucket
    FROM points
    GROUP BY trace_id, device, at
),
segments AS (
    SELECT
        trace_id, device, at AS start_{unit},
        lead(at) OVER w AS end_{unit},
        running_sum(running) OVER w AS running,
        running_sum(blocks) OVER w AS level,
        running_sum(with_blocks) OVER w > 0 AS has_blocks,
        running_sum(step) OVER w > 0 AS in_steps,
        nullif(running_sum(bucket) OVER w, 0) - 1 AS bucket
    FROM instants
    WINDOW w AS (PARTITION BY trace_id, device ORDER BY at)
)
SELECT
    trace_id, device, start_{unit}, end_{unit},
    end_{unit} - start_{unit} AS len_{unit},
    running, has_blocks, in_steps, bucket,
    CASE WHEN has_blocks THEN greatest(0.0, least(1.0, level)) ELSE 0.0 END AS sm_level
FROM segments
WHERE end_{unit} > start_{unit}
