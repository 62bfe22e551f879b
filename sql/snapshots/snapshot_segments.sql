-- Segments of memory snapshots: how full each is, and its largest free block.
--
-- A segment can be given back to the driver only when all of its blocks are free, and an allocation
-- must fit into one free block of the same pool and stream. external_pct is the share of a segment
-- that is free, internal_bytes what blocks are larger than what the program asked for.
--
-- Source: pytorch/torch/cuda/_memory_viz.py.
-- Example: SELECT segment_id, total_bytes, inactive_bytes, largest_inactive_bytes
--   FROM snapshot_segments ORDER BY inactive_bytes DESC LIMIT 5
-- Holds: largest_inactive_bytes <= inactive_bytes
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column device BIGINT id Device number; -1 is the host.
-- @column segment_id BIGINT id The segment (memory_segments.segment_id).
-- @column address BIGINT id Address; NULL if not recorded.
-- @column kind VARCHAR text small or large; NULL if not recorded.
-- @column pool VARCHAR text Memory pool: (0, 0) is the default; NULL if not recorded.
-- @column is_private BOOLEAN flag Whether the pool is private, for example of a CUDA graph.
-- @column stream BIGINT id Stream: 0, or a pointer.
-- @column expandable BOOLEAN flag Whether it grows in place.
-- @column total_bytes BIGINT bytes Size.
-- @column blocks BIGINT count Blocks.
-- @column allocated_bytes BIGINT bytes Size of allocated blocks.
-- @column pending_bytes BIGINT bytes Size of blocks whose free waits for other streams.
-- @column inactive_bytes BIGINT bytes Size of free blocks.
-- @column inactive_blocks BIGINT count Free blocks.
-- @column largest_inactive_bytes BIGINT bytes Size of the largest free block; 0 without one.
-- @column internal_bytes BIGINT bytes Size of allocated blocks beyond what the program asked for.
-- @column external_pct DOUBLE pct inactive_bytes as percent of total_bytes; NULL if that is 0.
-- @column is_free BOOLEAN flag Whether no block is in use, so that it could be given back.
-- @column stack_id BIGINT id Where it was made (snapshot_stacks.stack_id); NULL if not recorded.
WITH blocks AS (
    SELECT
        trace_id, segment_id,
        count(*) AS blocks,
        coalesce(sum(bytes) FILTER (WHERE state = 'active_allocated'), 0) AS allocated_bytes,
        coalesce(sum(bytes) FILTER (WHERE state NOT IN ('active_allocated', 'inactive')), 0)
            AS pending_bytes,
        coalesce(sum(bytes) FILTER (WHERE state = 'inactive'), 0) AS inactive_bytes,
        count(*) FILTER (WHERE state = 'inactive') AS inactive_blocks,
        coalesce(max(bytes) FILTER (WHERE state = 'inactive'), 0) AS largest_inactive_bytes,
        coalesce(
            sum(bytes - requested_bytes)
                FILTER (WHERE state = 'active_allocated' AND requested_bytes <= bytes),
            0
        ) AS internal_bytes
    FROM memory_blocks
    GROUP BY trace_id, segment_id
)
SELECT
    s.trace_id, s.device, s.segment_id, s.address, s.kind, s.pool,
    s.pool IS NOT NULL AND s.pool <> '(0, 0)' AS is_private,
    s.stream, s.expandable, s.total_bytes,
    coalesce(b.blocks, 0) AS blocks,
    coalesce(b.allocated_bytes, 0) AS allocated_bytes,
    coalesce(b.pending_bytes, 0) AS pending_bytes,
    coalesce(b.inactive_bytes, 0) AS inactive_bytes,
    coalesce(b.inactive_blocks, 0) AS inactive_blocks,
    coalesce(b.largest_inactive_bytes, 0) AS largest_inactive_bytes,
    coalesce(b.internal_bytes, 0) AS internal_bytes,
    100.0 * coalesce(b.inactive_bytes, 0) / nullif(s.total_bytes, 0) AS external_pct,
    b.blocks IS NULL OR b.blocks = b.inactive_blocks AS is_free,
    s.stack_id
FROM memory_segments s
LEFT JOIN blocks b ON b.trace_id = s.trace_id AND b.segment_id = s.segment_id
