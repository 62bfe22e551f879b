-- Allocations that outlive the step they were made in: what each step leaves behind.
--
-- Memory of the model and the optimizer is made before or in the first steps and stays; what later
-- steps leave behind, every step again, is a leak or a cache that grows. freed_later counts those
-- that a later step gives back. Only allocations made within a step are counted.
--
-- Example: SELECT alloc_step, op_name, allocations, bytes, alive FROM allocations_across_steps
--   ORDER BY alloc_step, bytes DESC
-- Holds: freed_later + alive = allocations
-- Holds: alive_bytes <= bytes
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column device_type VARCHAR text cpu, cuda, …; the kind of device.
-- @column device BIGINT id Device number; -1 is the host; NULL if not recorded.
-- @column alloc_step BIGINT id Step of the allocations.
-- @column op_name VARCHAR text The operator that allocated; NULL for none.
-- @column module_path VARCHAR text The modules around the allocation; NULL for none.
-- @column allocations BIGINT count Allocations that are still there when the step ends.
-- @column bytes BIGINT bytes Their size.
-- @column freed_later BIGINT count Number of them that were freed later.
-- @column alive BIGINT count Number of them whose free is not recorded.
-- @column alive_bytes BIGINT bytes Size of those.
-- @column max_lifetime_ns BIGINT ns Longest lifetime of those that were freed later; NULL without
--   any.
SELECT
    trace_id, rank, device_type, device, alloc_step, op_name, module_path,
    count(*) AS allocations,
    sum(bytes) AS bytes,
    count(*) FILTER (WHERE state = 'freed') AS freed_later,
    count(*) FILTER (WHERE state <> 'freed') AS alive,
    coalesce(sum(bytes) FILTER (WHERE state <> 'freed'), 0) AS alive_bytes,
    max(lifetime_ns) AS max_lifetime_ns
FROM allocations
WHERE alloc_step IS NOT NULL
    AND state IN ('freed', 'alive')
    AND (state = 'alive' OR free_step IS DISTINCT FROM alloc_step)
GROUP BY trace_id, rank, device_type, device, alloc_step, op_name, module_path
