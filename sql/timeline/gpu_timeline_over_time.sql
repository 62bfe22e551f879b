-- Where the time of each device goes, over time: computation, exposed communication, exposed
-- copies, idle.
--
-- The time of a device, from its first start to its last end, is cut into time_buckets stretches of
-- equal length; the last one may be shorter, and very short times have fewer. Work that crosses a
-- border counts in each stretch with its part. The rules are those of gpu_timeline_by_device, whose
-- times are the sums of these; the four parts add up to length_ns. A stretch without work is all
-- idle.
--
-- Source: gpu_timeline_by_device.
-- Example: SELECT device, bucket, computation_time_ns, idle_time_ns FROM gpu_timeline_over_time
--   ORDER BY device, bucket LIMIT 5
-- Holds: computation_time_ns + exposed_comm_time_ns + exposed_memcpy_time_ns = busy_time_ns
-- Holds: busy_time_ns + idle_time_ns = length_ns
-- Parts: length_ns BY trace_id, device OF gpu_timeline_by_device.total_time_ns
-- Parts: computation_time_ns BY trace_id, device OF gpu_timeline_by_device.computation_time_ns
-- Parts: exposed_comm_time_ns BY trace_id, device OF gpu_timeline_by_device.exposed_comm_time_ns
-- Parts: exposed_memcpy_time_ns BY trace_id, device OF
--   gpu_timeline_by_device.exposed_memcpy_time_ns
-- Parts: idle_time_ns BY trace_id, device OF gpu_timeline_by_device.idle_time_ns
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column device BIGINT id Device; NULL where the trace does not say which.
-- @column bucket BIGINT id Number of the stretch, from 0.
-- @column start_ns BIGINT ns Start of the stretch.
-- @column length_ns BIGINT ns Length of the stretch.
-- @column computation_time_ns BIGINT ns Time in which computation runs.
-- @column exposed_comm_time_ns BIGINT ns Time in which communication runs and no computation.
-- @column exposed_memcpy_time_ns BIGINT ns Time in which copies run and nothing else.
-- @column busy_time_ns BIGINT ns Time in which anything runs.
-- @column idle_time_ns BIGINT ns Time in which nothing runs.
-- @column busy_pct DOUBLE pct busy_time_ns as percent of length_ns.
WITH activities AS (
    SELECT
        trace_id, device, ts_ns, end_ns,
        CASE WHEN class IN ('memcpy', 'communication') THEN class ELSE 'computation' END AS class
    FROM kernel_classes
    WHERE class <> 'sync'
),
spans AS (
    SELECT trace_id, device, min(ts_ns) AS first_ns, max(end_ns) AS last_ns
    FROM activities
    GROUP BY trace_id, device
),
sized AS (
    SELECT *, (last_ns - first_ns - 1) / setting_int('time_buckets') + 1 AS bucket_ns
    FROM spans
    -- A length of more than 64 bits becomes negative.
    WHERE last_ns > first_ns AND last_ns - first_ns > 0
),
placed AS (
    SELECT a.*, s.first_ns, s.bucket_ns
    FROM activities a
    JOIN sized s ON s.trace_id = a.trace_id AND (s.device IS NOT DISTINCT FROM a.device)
    WHERE a.end_ns > a.ts_ns
),
cut AS (
    SELECT
        *,
        unnest(
            range((ts_ns - first_ns) / bucket_ns, (end_ns - 1 - first_ns) / bucket_ns + 1)
        ) AS bucket
    FROM placed
),
-- Each period has an additional row without time, so that periods without work are included.
parts AS (
    SELECT
        trace_id, device, bucket, class,
        greatest(ts_ns, first_ns + bucket * bucket_ns) AS part_start_ns,
        least(end_ns, first_ns + (bucket + 1) * bucket_ns) AS part_end_ns,
        CAST(NULL AS BIGINT) AS start_ns, CAST(NULL AS BIGINT) AS length_ns
    FROM cut
    UNION ALL
    SELECT
        trace_id, device, bucket, 'none',
        CAST(NULL AS BIGINT),
        CAST(NULL AS BIGINT),
        first_ns + bucket * bucket_ns,
        least(last_ns, first_ns + (bucket + 1) * bucket_ns) - (first_ns + bucket * bucket_ns)
    FROM (SELECT *, unnest(range(0, (last_ns - first_ns - 1) / bucket_ns + 1)) AS bucket FROM sized)
),
times AS (
    SELECT
        trace_id, device, bucket,
        max(start_ns) AS start_ns,
        max(length_ns) AS length_ns,
        coalesce(
            interval_union_len(part_start_ns, part_end_ns) FILTER (WHERE class = 'computation'), 0
        ) AS computation_ns,
        coalesce(
            interval_union_len(part_start_ns, part_end_ns)
                FILTER (WHERE class IN ('computation', 'communication')),
            0
        ) AS computation_or_comm_ns,
        coalesce(interval_union_len(part_start_ns, part_end_ns), 0) AS busy_ns
    FROM parts
    GROUP BY trace_id, device, bucket
)
SELECT
    trace_id, device, bucket, start_ns, length_ns,
    computation_ns AS computation_time_ns,
    computation_or_comm_ns - computation_ns AS exposed_comm_time_ns,
    busy_ns - computation_or_comm_ns AS exposed_memcpy_time_ns,
    busy_ns AS busy_time_ns,
    length_ns - busy_ns AS idle_time_ns,
    100.0 * busy_ns / nullif(length_ns, 0) AS busy_pct
FROM times
