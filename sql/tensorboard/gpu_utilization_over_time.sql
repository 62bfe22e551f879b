-- GPU utilization over time: how much of each stretch of the profiled time a kernel ran, and how full the multiprocessors were.
--
-- The profiled time is cut into at most 100 buckets whose length is a power of ten ns; the last one reaches to the end and may be longer.
--
-- Source: the utilization counter of torch-tb-profiler 0.4.3; the figures of SM efficiency by bucket are ours.
-- Example: SELECT start_ns, utilization_pct FROM gpu_utilization_over_time ORDER BY device, bucket
--
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column device BIGINT id Device.
-- @column bucket BIGINT id Number of the bucket, from 0.
-- @column start_ns BIGINT ns Start of the bucket.
-- @column end_ns BIGINT ns End of the bucket.
-- @column kernel_ns BIGINT ns Time in which at least one kernel ran.
-- @column utilization_pct DOUBLE pct kernel_ns as percent of the bucket.
-- @column sm_efficiency_pct DOUBLE pct Mean over the bucket of the blocks per multiprocessor that run, at most 1 each moment, in percent.
SELECT
    g.trace_id, t.rank, g.device, g.bucket,
    min(g.start_ns) AS start_ns,
    max(g.end_ns) AS end_ns,
    coalesce(sum(g.len_ns) FILTER (WHERE g.running > 0), 0) AS kernel_ns,
    100.0 * coalesce(sum(g.len_ns) FILTER (WHERE g.running > 0), 0) / nullif(sum(g.len_ns), 0) AS utilization_pct,
    100.0 * sum(g.sm_level * g.len_ns) / nullif(sum(g.len_ns), 0) AS sm_efficiency_pct
FROM _gpu_segments g
JOIN traces t ON t.trace_id = g.trace_id
WHERE g.bucket IS NOT NULL
GROUP BY g.trace_id, t.rank, g.device, g.bucket
