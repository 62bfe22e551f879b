-- The stack at which memory was allocated.
--
-- The stack is that of the innermost event open on the thread at the time. Allocations outside of any event have the
-- frame `(outside of events)`. Frees have no row: what was freed where says little about who holds memory.
--
-- Source: `[memory]` events.
-- Example: SELECT stack_leaf(stack) AS operator, sum(bytes) AS bytes FROM alloc_stacks GROUP BY 1 ORDER BY 2 DESC LIMIT 5
--
-- @column trace_id VARCHAR text The trace.
-- @column event_id BIGINT id The allocation (memory.event_id).
-- @column ts_ns BIGINT ns Time.
-- @column step BIGINT id Step; NULL outside of steps.
-- @column track_id BIGINT id Thread.
-- @column device_type VARCHAR text cpu, cuda, ….
-- @column device BIGINT id Device; -1 is the host.
-- @column bytes BIGINT bytes Size.
-- @column stack VARCHAR[] list Frames, root first.
SELECT
  m.trace_id, m.event_id, m.ts_ns, m.step, e.track_id, m.device_type, m.device, m.bytes,
  coalesce(s.stack, ['(outside of events)']) AS stack
FROM memory m
JOIN events e ON e.trace_id = m.trace_id AND e.event_id = m.event_id
LEFT JOIN event_stacks s ON s.trace_id = e.trace_id AND s.event_id = e.parent_id
WHERE m.action = 'alloc' AND m.bytes > 0
