-- Fragmentation of memory snapshots by device and pool.
--
-- The allocator keeps small (up to 1 MiB) and large allocations in separate segments, and private
-- pools (for example of CUDA graphs) apart from the default pool: free memory of one cannot serve
-- another. external_pct is the share of reserved memory that is free but kept. unusable_bytes is
-- the part of it in segments that are partly in use, which the allocator cannot give back.
-- fragmentation is PyTorch's measure: 0 if all free memory is one piece as large as all that is
-- reserved, near 1 if it is many small pieces.
--
-- Source: pytorch/torch/cuda/_memory_viz.py; pytorch/torch/utils/viz/MemoryViz.js.
-- Example: SELECT device, pool, kind, reserved_bytes, inactive_bytes, largest_inactive_bytes
--   FROM snapshot_pools ORDER BY reserved_bytes DESC
-- Holds: largest_inactive_bytes <= inactive_bytes
-- Holds: inactive_bytes <= reserved_bytes
-- Parts: reserved_bytes BY trace_id, device OF snapshot_segments.total_bytes
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column device BIGINT id Device number; -1 is the host.
-- @column pool VARCHAR text Memory pool: (0, 0) is the default; NULL if not recorded.
-- @column is_private BOOLEAN flag Whether the pool is private, for example of a CUDA graph.
-- @column kind VARCHAR text small or large; NULL if not recorded.
-- @column segments BIGINT count Segments.
-- @column free_segments BIGINT count Segments without a block in use.
-- @column reserved_bytes BIGINT bytes Size of the segments.
-- @column allocated_bytes BIGINT bytes Size of allocated blocks.
-- @column pending_bytes BIGINT bytes Size of blocks whose free waits for other streams.
-- @column inactive_bytes BIGINT bytes Size of free blocks.
-- @column inactive_blocks BIGINT count Free blocks.
-- @column largest_inactive_bytes BIGINT bytes Size of the largest free block.
-- @column unusable_bytes BIGINT bytes Free blocks in segments that are partly in use.
-- @column internal_bytes BIGINT bytes Size of allocated blocks beyond what the program asked for.
-- @column external_pct DOUBLE pct inactive_bytes as percent of reserved_bytes; NULL if that is 0.
-- @column fragmentation DOUBLE ratio 1 less the sum of the squares of free blocks by the square of
--   their sum; NULL without a free block.
WITH squares AS (
    SELECT
        b.trace_id, s.device, s.pool, s.kind,
        sum(CAST(b.bytes AS DOUBLE) * b.bytes) AS squares
    FROM memory_blocks b
    JOIN memory_segments s ON s.trace_id = b.trace_id AND s.segment_id = b.segment_id
    WHERE b.state = 'inactive'
    GROUP BY b.trace_id, s.device, s.pool, s.kind
),
pools AS (
    SELECT
        trace_id, device, pool, is_private, kind,
        count(*) AS segments,
        count(*) FILTER (WHERE is_free) AS free_segments,
        sum(total_bytes) AS reserved_bytes,
        sum(allocated_bytes) AS allocated_bytes,
        sum(pending_bytes) AS pending_bytes,
        sum(inactive_bytes) AS inactive_bytes,
        sum(inactive_blocks) AS inactive_blocks,
        max(largest_inactive_bytes) AS largest_inactive_bytes,
        coalesce(sum(inactive_bytes) FILTER (WHERE NOT is_free), 0) AS unusable_bytes,
        sum(internal_bytes) AS internal_bytes
    FROM snapshot_segments
    GROUP BY trace_id, device, pool, is_private, kind
)
SELECT
    p.*,
    100.0 * p.inactive_bytes / nullif(p.reserved_bytes, 0) AS external_pct,
    1 - q.squares / nullif(CAST(p.inactive_bytes AS DOUBLE) * p.inactive_bytes, 0) AS fragmentation
FROM pools p
LEFT JOIN squares q
    ON q.trace_id = p.trace_id AND q.device = p.device
        AND (q.pool IS NOT DISTINCT FROM p.pool) AND (q.kind IS NOT DISTINCT FROM p.kind)
