-- GPU utilization over time: the share of each stretch with a kernel running, and the load of the
-- multiprocessors.
--
-- The profiled time is cut into at most 100 buckets whose length is a power of ten ns; the last one
-- reaches to the end and may be longer.
--
-- Source: the utilization counter of torch-tb-profiler 0.4.3; the figures of SM efficiency and
--   occupancy by bucket are ours, by its rules for the whole.
-- Example: SELECT start_ns, utilization_pct FROM gpu_utilization_over_time ORDER BY device, bucket
-- Holds: kernel_ns <= end_ns - start_ns
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column device BIGINT id Device.
-- @column bucket BIGINT id Number of the bucket, from 0.
-- @column start_ns BIGINT ns Start of the bucket.
-- @column end_ns BIGINT ns End of the bucket.
-- @column kernel_ns BIGINT ns Time in which at least one kernel ran.
-- @column utilization_pct DOUBLE pct kernel_ns as percent of the bucket.
-- @column sm_efficiency_pct DOUBLE pct Mean over the bucket of the blocks per multiprocessor that
--   run, at most 1 each moment, in percent.
-- @column occupancy_pct DOUBLE pct Mean of est. achieved occupancy over the kernels, weighted by
--   their time in the bucket; NULL if none ran that has one.
WITH parts AS (
    SELECT
        k.trace_id, k.device, k.ts_ns, k.end_ns, k.occupancy_pct, w.start_ns,
        w.end_ns AS window_end_ns,
        w.bucket_ns, w.buckets,
        unnest(generate_series(
            least(greatest(k.ts_ns - w.start_ns, 0) / w.bucket_ns, w.buckets - 1),
            least((k.end_ns - 1 - w.start_ns) / w.bucket_ns, w.buckets - 1))) AS bucket
    FROM _device_work k
    JOIN _profile_window w ON w.trace_id = k.trace_id
    WHERE k.kind = 'kernel'
        AND k.occupancy_pct >= 0
        AND k.end_ns > greatest(k.ts_ns, w.start_ns)
        AND k.ts_ns < w.end_ns
        AND w.buckets > 0
),
lengths AS (
    SELECT
        trace_id, device, bucket, occupancy_pct,
        least(
            end_ns,
            CASE
                WHEN bucket = buckets - 1 THEN window_end_ns
                ELSE start_ns + (bucket + 1) * bucket_ns
            END
        )
            - greatest(ts_ns, start_ns + bucket * bucket_ns) AS len_ns
    FROM parts
),
occupied AS (
    SELECT
        trace_id, device, bucket,
        sum(occupancy_pct * len_ns) / nullif(sum(len_ns), 0) AS occupancy_pct
    FROM lengths
    GROUP BY trace_id, device, bucket
),
levels AS (
    SELECT
        trace_id, device, bucket,
        min(start_ns) AS start_ns,
        max(end_ns) AS end_ns,
        coalesce(sum(len_ns) FILTER (WHERE running > 0), 0) AS kernel_ns,
        sum(sm_level * len_ns) AS sm_ns,
        bool_or(has_blocks) AS has_blocks,
        sum(len_ns) AS len_ns
    FROM _gpu_segments
    WHERE bucket IS NOT NULL
    GROUP BY trace_id, device, bucket
)
SELECT
    g.trace_id, t.rank, g.device, g.bucket, g.start_ns, g.end_ns, g.kernel_ns,
    100.0 * g.kernel_ns / nullif(g.len_ns, 0) AS utilization_pct,
    CASE
        WHEN bool_or(g.has_blocks) OVER (PARTITION BY g.trace_id, g.device)
            THEN 100.0 * g.sm_ns / nullif(g.len_ns, 0)
    END AS sm_efficiency_pct,
    o.occupancy_pct
FROM levels g
JOIN traces t ON t.trace_id = g.trace_id
LEFT JOIN occupied o ON o.trace_id = g.trace_id AND o.device = g.device AND o.bucket = g.bucket
