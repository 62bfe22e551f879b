-- Allocations of memory snapshots: where each was made, when it was freed, and what is left.
--
-- An allocation of the history has the event of its alloc as its number. Memory that was allocated
-- before the history has a negative number: it is known because it was freed in the history, or
-- because a block holds it at the end. An address that is allocated again without a free ends the
-- earlier allocation (ingest_issues counts that as missing_free). state says what is known:
-- - freed: its free is complete
-- - live: a block holds it at the end
-- - pending: its free was requested, and waits for other streams at the end
-- - lost: the history does not show its end, and no block holds it
--
-- pending_ns is the time from the request of a free to its completion: memory that another stream
-- still uses (Tensor.record_stream) cannot be given out again.
--
-- Source: pytorch/torch/utils/viz/MemoryViz.js.
-- Example: SELECT state, count(*) AS allocations, sum(bytes) AS bytes FROM snapshot_allocations
--   GROUP BY state ORDER BY state
-- Holds: pending_ns <= lifetime_ns
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column device BIGINT id Device number; -1 is the host.
-- @column allocation_id BIGINT id The allocation: the event of its alloc, or a negative number.
-- @column address BIGINT id Address.
-- @column bytes BIGINT bytes Bytes that the program asked for; NULL if not known.
-- @column block_bytes BIGINT bytes Size of the block that holds it at the end; NULL without one.
-- @column state VARCHAR text freed, live, pending or lost.
-- @column is_counted BOOLEAN flag Whether live memory counts it. Only memory from before the history
--   whose free was requested and is not complete is not counted.
-- @column alloc_event_id BIGINT id Its alloc (events.event_id); NULL if before the history.
-- @column end_event_id BIGINT id Event that ended it; NULL if it did not end.
-- @column alloc_ts_ns BIGINT ns Time of its alloc; NULL if not recorded.
-- @column end_ts_ns BIGINT ns Time of its end; NULL if it did not end, or not recorded.
-- @column lifetime_ns BIGINT ns From alloc to end; NULL unless both are recorded.
-- @column pending_ns BIGINT ns From the request of the free to its end; NULL unless both are
--   recorded.
-- @column stream BIGINT id Stream; NULL if not recorded.
-- @column pool VARCHAR text Pool of the alloc (memory.pool); NULL if not recorded.
-- @column stack_id BIGINT id Where it was allocated (snapshot_stacks.stack_id); NULL if not
--   recorded.
WITH history AS (
    SELECT
        trace_id, device, allocation_id,
        max(addr) AS address,
        max(bytes) FILTER (WHERE action = 'alloc') AS alloc_bytes,
        max(-bytes) FILTER (WHERE action = 'free') AS free_bytes,
        max(event_id) FILTER (WHERE action = 'alloc') AS alloc_event_id,
        max(event_id) FILTER (WHERE action = 'free') AS free_event_id,
        max(ts_ns) FILTER (WHERE action = 'alloc') AS alloc_ts_ns,
        min(ts_ns) FILTER (WHERE action = 'free_requested') AS requested_ts_ns,
        max(ts_ns) FILTER (WHERE action = 'free') AS free_ts_ns,
        max(stream) AS stream,
        max(pool) FILTER (WHERE action = 'alloc') AS pool,
        max(stack_id) FILTER (WHERE action = 'alloc') AS stack_id
    FROM memory
    WHERE allocation_id IS NOT NULL
    GROUP BY trace_id, device, allocation_id
),
held AS (
    SELECT
        b.trace_id, b.device, b.allocation_id, b.address, b.bytes, b.requested_bytes, b.state,
        b.stack_id, s.stream, s.pool
    FROM memory_blocks b
    JOIN memory_segments s ON s.trace_id = b.trace_id AND s.segment_id = b.segment_id
    WHERE b.allocation_id IS NOT NULL
),
joined AS (
    SELECT
        coalesce(h.trace_id, b.trace_id) AS trace_id,
        coalesce(h.device, b.device) AS device,
        coalesce(h.allocation_id, b.allocation_id) AS allocation_id,
        coalesce(h.address, b.address) AS address,
        coalesce(h.alloc_bytes, h.free_bytes, b.requested_bytes, b.bytes) AS bytes,
        b.bytes AS block_bytes, b.state AS block_state,
        h.alloc_event_id, h.free_event_id, h.alloc_ts_ns, h.requested_ts_ns, h.free_ts_ns,
        coalesce(h.stream, b.stream) AS stream,
        coalesce(h.pool, b.pool) AS pool,
        coalesce(h.stack_id, b.stack_id) AS stack_id
    FROM history h
    FULL JOIN held b
        ON b.trace_id = h.trace_id AND b.device = h.device AND b.allocation_id = h.allocation_id
),
followed AS (
    SELECT
        *,
        lead(alloc_event_id) OVER address AS next_event_id,
        lead(alloc_ts_ns) OVER address AS next_ts_ns
    FROM joined
    WINDOW address AS (
        PARTITION BY trace_id, device, address
        ORDER BY coalesce(alloc_event_id, -1), coalesce(free_event_id, 9223372036854775807)
    )
),
ended AS (
    SELECT
        *,
        CASE WHEN block_state IS NULL THEN coalesce(free_event_id, next_event_id) END
            AS end_event_id,
        CASE
            WHEN block_state IS NOT NULL THEN NULL
            WHEN free_event_id IS NOT NULL THEN free_ts_ns
            ELSE next_ts_ns
        END AS end_ts_ns
    FROM followed
)
SELECT
    trace_id, device, allocation_id, address, bytes, block_bytes,
    CASE
        WHEN block_state = 'active_allocated' THEN 'live'
        WHEN block_state IS NOT NULL THEN 'pending'
        WHEN free_event_id IS NOT NULL THEN 'freed'
        ELSE 'lost'
    END AS state,
    NOT (
        alloc_event_id IS NULL AND free_event_id IS NULL
        AND block_state IS DISTINCT FROM 'active_allocated'
    ) AS is_counted,
    alloc_event_id, end_event_id, alloc_ts_ns, end_ts_ns,
    end_ts_ns - alloc_ts_ns AS lifetime_ns,
    CASE
        WHEN free_event_id IS NOT NULL AND block_state IS NULL THEN free_ts_ns - requested_ts_ns
    END AS pending_ns,
    stream, pool, stack_id
FROM ended
