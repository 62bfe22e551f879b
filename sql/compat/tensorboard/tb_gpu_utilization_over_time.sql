-- GPU utilization over time as torch-tb-profiler 0.4.3 adds it to its trace view, in microseconds.
--
-- For comparison with old screenshots; gpu_utilization_over_time is the view for today's traces.
--
-- Source: torch-tb-profiler 0.4.3, to the last digit, except for the order of float sums and for
--   the odd traces named in docs/tensorboard.md.
-- Example: SELECT start_us, utilization FROM tb_gpu_utilization_over_time ORDER BY device, bucket
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column device BIGINT id Device.
-- @column bucket BIGINT id Number of the bucket, from 0.
-- @column start_us DOUBLE us Start of the bucket.
-- @column utilization DOUBLE ratio Share of the bucket in which a kernel ran.
SELECT
    g.trace_id, t.rank, g.device, g.bucket,
    min(g.start_us) AS start_us,
    coalesce(sum(g.len_us) FILTER (WHERE g.running > 0), 0.0)
        / nullif(sum(g.len_us), 0.0) AS utilization
FROM _tb_gpu_segments g
JOIN traces t ON t.trace_id = g.trace_id
WHERE g.bucket IS NOT NULL
GROUP BY g.trace_id, t.rank, g.device, g.bucket
