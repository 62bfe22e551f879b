-- The information of each trace about data parallelism: calls of DataParallel and
-- DistributedDataParallel, and collectives marked on the host, by backend.
--
-- Host backends are those that copy device tensors to the host and back: gloo and mpi.
-- @scope trace
WITH calls AS (
    SELECT
        trace_id, name, dur_ns,
        starts_with(name, 'gloo:') OR starts_with(name, 'mpi:') AS is_host_collective,
        starts_with(name, 'nccl:') OR starts_with(name, 'xccl:') AS is_device_collective
    FROM events
    WHERE cat IN ('cpu_op', 'user_annotation', 'Operator', 'operator') AND dur_ns IS NOT NULL
        AND name IS NOT NULL
)
SELECT
    trace_id,
    count(*) FILTER (WHERE name = 'DataParallel.forward') AS dp_calls,
    coalesce(sum(dur_ns) FILTER (WHERE name = 'DataParallel.forward'), 0) AS dp_ns,
    count(*) FILTER (WHERE name = 'DistributedDataParallel.forward') AS ddp_calls,
    count(*) FILTER (WHERE is_host_collective) AS host_collectives,
    coalesce(sum(dur_ns) FILTER (WHERE is_host_collective), 0) AS host_collective_ns,
    min(CASE WHEN is_host_collective THEN split_part(name, ':', 1) END) AS host_backend,
    count(*) FILTER (WHERE is_device_collective) AS device_collectives
FROM calls
GROUP BY trace_id
