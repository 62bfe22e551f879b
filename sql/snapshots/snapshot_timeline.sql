-- Live and reserved memory over time: one row per entry of a memory snapshot's history.
--
-- An allocation counts from its alloc to the completion of its free, with the bytes that the
-- program asked for, as in PyTorch's viewer. What was live before the history is known from the
-- blocks at its end. Reserved memory is that of all segments. entry counts from 0 on each device,
-- because entries without times have no other place on an axis. annotate, oom and snapshot change
-- nothing.
--
-- Source: pytorch/torch/utils/viz/MemoryViz.js.
-- Example: SELECT entry, action, bytes, live_bytes, reserved_bytes FROM snapshot_timeline
--   ORDER BY trace_id, device, entry LIMIT 5
-- Range: any bytes; less than 0 where memory is given back.
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column device BIGINT id Device number; -1 is the host.
-- @column entry BIGINT number Position in the history of the device, from 0.
-- @column event_id BIGINT id The entry (memory.event_id).
-- @column ts_ns BIGINT ns Time since 1970; NULL if not recorded.
-- @column at_ns BIGINT ns Time since the first entry of the trace; NULL if not recorded.
-- @column action VARCHAR text What happened (memory.action).
-- @column bytes BIGINT bytes Size; negative where memory is given back; NULL if not usable.
-- @column live_bytes BIGINT bytes Live after the entry; NULL if the file was cut.
-- @column reserved_bytes BIGINT bytes Reserved after the entry; NULL if the file was cut.
-- @column stream BIGINT id Stream; NULL if not recorded.
-- @column allocation_id BIGINT id The allocation (snapshot_allocations.allocation_id).
-- @column stack_id BIGINT id Where it happened (snapshot_stacks.stack_id); NULL if not recorded.
SELECT
    m.trace_id, m.device,
    CAST(row_number() OVER (PARTITION BY m.trace_id, m.device ORDER BY m.event_id) AS BIGINT) - 1
        AS entry,
    m.event_id, m.ts_ns,
    m.ts_ns - min(m.ts_ns) OVER (PARTITION BY m.trace_id) AS at_ns,
    m.action, m.bytes,
    m.total_allocated_bytes AS live_bytes,
    m.total_reserved_bytes AS reserved_bytes,
    m.stream, m.allocation_id, m.stack_id
FROM memory m
JOIN traces t ON t.trace_id = m.trace_id
WHERE t.format = 'torch_memory'
