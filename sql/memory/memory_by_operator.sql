-- Memory by operator: allocations and growth of memory on each device, with and without nested
-- operators.
--
-- A record of the allocator belongs to the innermost call around it on its thread, if that is an
-- operator, and in total also to all operators around that one, once for each name. Growth is the
-- sum of allocations less frees at the time of the call: an operator that frees what another
-- allocated has a negative one. Sizes come from the records, so views over all rows of a device add
-- up to its records; those that no operator made are the row with a NULL name.
--
-- Source: the memory view of torch-tb-profiler 0.4.3, which leaves out what optimizers and data
--   loading take themselves, counts an operator within another of its name twice, and counts calls
--   only where a record was seen nearby.
-- Example: SELECT name, allocations_self, allocated_self_bytes FROM memory_by_operator
--   ORDER BY allocated_self_bytes DESC LIMIT 5
-- Holds: allocations_self <= allocations
-- Range: any growth_bytes, growth_self_bytes; allocations less frees.
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column device_type VARCHAR text cpu, cuda, …; the device's name for perf.json.
-- @column device BIGINT id Device number; -1 is the host; NULL if not recorded.
-- @column name VARCHAR text Name of the operator; NULL for memory that no operator allocated or
--   freed.
-- @column calls BIGINT count Calls of the operator in the trace; NULL for the row without a name.
-- @column growth_bytes BIGINT bytes Allocations less frees, of the calls and all inside.
-- @column growth_self_bytes BIGINT bytes Allocations less frees, of the calls themselves.
-- @column allocations BIGINT count Number of allocations of the calls and all inside.
-- @column allocations_self BIGINT count Number of allocations of the calls themselves.
-- @column allocated_bytes BIGINT bytes Size of allocations of the calls and all inside.
-- @column allocated_self_bytes BIGINT bytes Size of allocations of the calls themselves.
-- @column mean_allocation_bytes DOUBLE bytes allocated_self_bytes by allocations_self; NULL without
--   any.
WITH records AS (
    SELECT m.trace_id, t.rank, m.device_type, m.device, m.bytes, s.op_name, s.operators
    FROM memory m
    JOIN traces t ON t.trace_id = m.trace_id
    JOIN events e ON e.trace_id = m.trace_id AND e.event_id = m.event_id
    LEFT JOIN _memory_sites s
        ON s.trace_id = m.trace_id AND s.track_id = e.track_id AND s.ts_ns = m.ts_ns
),
parts AS (
    SELECT
        trace_id, rank, device_type, device, bytes, op_name,
        unnest(
            CASE
                WHEN op_name IS NULL THEN make_array(CAST(NULL AS VARCHAR))
                ELSE array_distinct(operators)
            END
        ) AS name
    FROM records
),
sums AS (
    SELECT
        trace_id, rank, device_type, device, name,
        sum(bytes) AS growth_bytes,
        sum(CASE WHEN name IS NOT DISTINCT FROM op_name THEN bytes ELSE 0 END) AS growth_self_bytes,
        sum(CASE WHEN bytes > 0 THEN 1 ELSE 0 END) AS allocations,
        sum(
            CASE WHEN bytes > 0 AND name IS NOT DISTINCT FROM op_name THEN 1 ELSE 0 END
        ) AS allocations_self,
        sum(CASE WHEN bytes > 0 THEN bytes ELSE 0 END) AS allocated_bytes,
        sum(
            CASE WHEN bytes > 0 AND name IS NOT DISTINCT FROM op_name THEN bytes ELSE 0 END
        ) AS allocated_self_bytes
    FROM parts
    GROUP BY trace_id, rank, device_type, device, name
),
calls AS (
    SELECT trace_id, name, count(*) AS calls
    FROM _host_tree
    WHERE is_operator AND call_id = event_id
    GROUP BY trace_id, name
)
SELECT
    s.trace_id, s.rank, s.device_type, s.device, s.name,
    CASE WHEN s.name IS NOT NULL THEN c.calls END AS calls,
    s.growth_bytes, s.growth_self_bytes, s.allocations, s.allocations_self, s.allocated_bytes,
    s.allocated_self_bytes,
    CAST(s.allocated_self_bytes AS DOUBLE) / nullif(s.allocations_self, 0) AS mean_allocation_bytes
FROM sums s
LEFT JOIN calls c ON c.trace_id = s.trace_id AND c.name = s.name
