-- Backend of DistributedDataParallel: gradients of a device that a backend of the host exchanges.
--
-- The value is the number of calls of DistributedDataParallel.forward in a trace whose gradients go
-- through gloo or mpi, which copy them to the host and back, and 0 in other traces. Gradients do so
-- if the recorded backend (distributedInfo) or the marks of collectives name gloo or mpi, and
-- neither the backend nor any mark or kernel is of a library that communicates from the device
-- (nccl, rccl, xccl, ccl, hccl, …). The rule is not measurable where DistributedDataParallel is
-- called and nothing shows how it communicates.
-- Source: the advice on DistributedDataParallel of torch-tb-profiler 0.4.3, also for other devices
--     than those of CUDA.
-- @scope trace
-- @finding high above 0 count as calls: calls of DistributedDataParallel over a backend of the host
-- @subject {backend}
-- @unmeasured How DistributedDataParallel communicates could not be measured.
-- @message DistributedDataParallel is called {calls:time|times} and {way}
-- @advice Use the backend of the device: torch.distributed.init_process_group("nccl") on GPUs of
--     NVIDIA and AMD, "xccl" on those of Intel. Keep gloo for tensors on the CPU
--     ("cpu:gloo,cuda:nccl").
-- @evidence SELECT name, count(*) AS calls, sum(dur_ns) AS total_ns FROM named_events WHERE
--     trace_id = {trace_id} AND (name = 'DistributedDataParallel.forward' OR regexp_like(name,
--     '^[a-z]+:')) GROUP BY name ORDER BY total_ns DESC
WITH on_device AS (
    SELECT trace_id, count(*) AS kernels
    FROM kernel_classes
    WHERE class = 'communication'
    GROUP BY trace_id
),
known AS (
    SELECT
        r.trace_id, r.rank, r.no_device_reason, p.trace_id IS NOT NULL AS has_operators,
        a.hint,
        coalesce(p.ddp_calls, 0) AS calls, coalesce(p.host_collectives, 0) AS host_collectives,
        p.host_collective_ns, coalesce(nullif(lower(t.backend), 'undefined'), p.host_backend)
            AS backend,
        coalesce(
            p.device_collectives > 0 OR d.kernels > 0 OR regexp_like(
                lower(coalesce(t.backend, '')), 'ccl|cncl|mtia|nvshmem|ucc'), false) AS is_on_device
    FROM _rule_traces r
    JOIN traces t ON t.trace_id = r.trace_id
    LEFT JOIN _parallel_calls p ON p.trace_id = r.trace_id
    LEFT JOIN on_device d ON d.trace_id = r.trace_id
    LEFT JOIN _record_advice a ON a.trace_id = r.trace_id AND a.information = 'operators'
),
placed AS (
    SELECT
        *, NOT is_on_device AND (
            host_collectives > 0 OR regexp_like(coalesce(backend, ''), 'gloo|mpi')) AS is_on_host
    FROM known
)
SELECT
    trace_id, rank, backend, calls, CASE WHEN is_on_host THEN calls ELSE 0 END AS value,
    CASE
        WHEN is_on_device THEN concat(
            'communicates from the device',
            CASE WHEN backend IS NULL THEN '.' ELSE concat(' (', backend, ').') END)
        WHEN host_collectives = 0 THEN concat(
            'exchanges gradients of a device by ', backend, ', which is on the host: ',
            'its collectives are not recorded.')
        ELSE concat(
            'exchanges gradients of a device by ', backend, ', which is on the host: ',
            host_collectives,
            CASE host_collectives WHEN 1 THEN ' collective takes ' ELSE ' collectives take ' END,
            format_ns(host_collective_ns), '.')
    END AS way,
    CASE WHEN calls = 0 THEN 'DistributedDataParallel is not used.' END AS message,
    CASE
        WHEN no_device_reason IS NOT NULL THEN no_device_reason
        WHEN NOT has_operators THEN concat('The trace has no operators', hint)
        WHEN calls > 0 AND NOT is_on_device AND NOT is_on_host THEN concat(
            'DistributedDataParallel is called, but ',
            CASE
                WHEN backend IS NULL THEN 'the trace names no backend'
                ELSE concat('nothing is known of the backend ', backend)
            END,
            ' and there are no collectives. Record whole steps, with torch.distributed ',
            'initialised before the profiler starts.')
    END AS reason
FROM placed
