-- What each trace says about data parallelism: calls of DataParallel and DistributedDataParallel, and collectives marked on the host by backend.
--
-- Backends of the host are those that copy tensors of a device to the host and back: gloo and mpi.
SELECT
    trace_id,
    count(*) FILTER (WHERE name = 'DataParallel.forward') AS dp_calls,
    coalesce(sum(dur_ns) FILTER (WHERE name = 'DataParallel.forward'), 0) AS dp_ns,
    count(*) FILTER (WHERE name = 'DistributedDataParallel.forward') AS ddp_calls,
    count(*) FILTER (WHERE starts_with(name, 'gloo:') OR starts_with(name, 'mpi:')) AS host_collectives,
    coalesce(sum(dur_ns) FILTER (WHERE starts_with(name, 'gloo:') OR starts_with(name, 'mpi:')), 0) AS host_collective_ns,
    min(CASE WHEN starts_with(name, 'gloo:') OR starts_with(name, 'mpi:') THEN split_part(name, ':', 1) END) AS host_backend,
    count(*) FILTER (WHERE starts_with(name, 'nccl:') OR starts_with(name, 'xccl:')) AS device_collectives
FROM events
WHERE cat IN ('cpu_op', 'user_annotation', 'Operator', 'operator') AND dur_ns IS NOT NULL AND name IS NOT NULL
GROUP BY trace_id
