-- Allocations: when memory was taken and freed, by which operator and module, and what remains at
-- the end.
--
-- A row is an allocation with the free of the same address on the same device that follows it, if
-- there is one before the address is used again. A free without an allocation is a row too: its
-- memory was taken before the recording. Nothing is guessed beyond that; state says what is known:
-- - freed: both ends are recorded
-- - alive: no free until the recording ends
-- - free_not_recorded: the address was allocated again without a free in between
-- - alloc_not_recorded: only the free is recorded
-- - no_address: the profiler wrote no address (PyTorch before 1.10), so that ends cannot be joined
--
-- In perf.json a row is a blob. The operator is the innermost call around the allocation, if that
-- is an operator; the modules around it are known from Python stacks (with_stack) or Module
-- Hierarchy (with_modules).
--
-- Source: the memory view of torch-tb-profiler 0.4.3.
-- Example: SELECT op_name, sum(bytes), avg(lifetime_ns) FROM allocations WHERE state = 'freed'
--   GROUP BY op_name ORDER BY 2 DESC LIMIT 5
-- Holds: lifetime_ns = free_ts_ns - alloc_ts_ns
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column device_type VARCHAR text cpu, cuda, …; the device's name for perf.json.
-- @column device BIGINT id Device number; -1 is the host; NULL if not recorded.
-- @column addr BIGINT id Address; the blob's uuid for perf.json; NULL if not recorded.
-- @column bytes BIGINT bytes Size.
-- @column state VARCHAR text freed, alive, free_not_recorded, alloc_not_recorded or no_address.
-- @column alloc_event_id BIGINT id The allocation (events.event_id); NULL if not recorded.
-- @column free_event_id BIGINT id The free (events.event_id); NULL if there is none.
-- @column alloc_ts_ns BIGINT ns Time of the allocation; NULL if not recorded.
-- @column free_ts_ns BIGINT ns Time of the free; NULL if there is none.
-- @column lifetime_ns BIGINT ns From allocation to free; NULL unless both are recorded.
-- @column alloc_step BIGINT id Step of the allocation; NULL outside steps.
-- @column free_step BIGINT id Step of the free; NULL outside steps, or if there is none.
-- @column op_id BIGINT id The operator that allocated (events.event_id); NULL if none is around it.
-- @column op_name VARCHAR text Its name.
-- @column caller_name VARCHAR text The call around that operator; NULL for none.
-- @column module_path VARCHAR text The modules around the allocation, from the outermost, joined by
--   dots; NULL for none.
-- @column is_at_peak BOOLEAN flag Whether it was allocated when its device reached its peak.
WITH turns AS (
    SELECT
        *,
        lead(action) OVER address AS next_action,
        lag(action) OVER address AS previous_action,
        lead(event_id) OVER address AS next_event_id,
        lead(ts_ns) OVER address AS next_ts_ns,
        lead(step) OVER address AS next_step,
        lead(record) OVER address AS next_record
    FROM _memory_peaks
    WINDOW address AS (
        PARTITION BY trace_id, device_type, device, addr, blob_id ORDER BY ts_ns, event_id, action
    )
),
states AS (
    SELECT
        *,
        CASE
            WHEN addr IS NULL THEN 'no_address'
            WHEN action = 'free' THEN 'alloc_not_recorded'
            WHEN next_action = 'free' THEN 'freed'
            WHEN next_action = 'alloc' THEN 'free_not_recorded'
            ELSE 'alive'
        END AS state
    FROM turns
    WHERE action = 'alloc' OR addr IS NULL OR previous_action IS DISTINCT FROM 'alloc'
),
pairs AS (
    SELECT
        *,
        CASE WHEN action = 'alloc' THEN event_id END AS alloc_event_id,
        CASE WHEN action = 'alloc' THEN ts_ns END AS alloc_ts_ns,
        CASE WHEN action = 'alloc' THEN step END AS alloc_step,
        CASE
            WHEN action = 'free' THEN event_id
            WHEN state = 'freed' THEN next_event_id
        END AS free_event_id,
        CASE WHEN action = 'free' THEN ts_ns WHEN state = 'freed' THEN next_ts_ns END AS free_ts_ns,
        CASE WHEN action = 'free' THEN step WHEN state = 'freed' THEN next_step END AS free_step,
        CASE state
            WHEN 'freed' THEN record <= peak_record AND peak_record < next_record
            WHEN 'alive' THEN record <= peak_record
            WHEN 'free_not_recorded' THEN record <= peak_record AND peak_record < next_record
            WHEN 'alloc_not_recorded' THEN peak_record < record
        END AS is_at_peak
    FROM states
),
places AS (
    SELECT p.*, e.track_id
    FROM pairs p
    LEFT JOIN events e ON e.trace_id = p.trace_id AND e.event_id = p.alloc_event_id
),
operators AS (
    SELECT trace_id, event_id, regexp_replace(module_hierarchy, '[(:][^.]*', '', 'g') AS module_path
    FROM events
    WHERE module_hierarchy <> ''
)
SELECT
    p.trace_id, p.rank, p.device_type, p.device, p.addr,
    abs(p.bytes) AS bytes,
    p.state, p.alloc_event_id, p.free_event_id, p.alloc_ts_ns, p.free_ts_ns,
    p.free_ts_ns - p.alloc_ts_ns AS lifetime_ns,
    p.alloc_step, p.free_step,
    s.op_id, s.op_name, s.caller_name,
    coalesce(s.module_path, o.module_path) AS module_path,
    coalesce(p.is_at_peak, false) AS is_at_peak
FROM places p
LEFT JOIN _memory_sites s
    ON s.trace_id = p.trace_id AND s.track_id = p.track_id AND s.ts_ns = p.alloc_ts_ns
LEFT JOIN operators o ON o.trace_id = s.trace_id AND o.event_id = s.op_id
