-- Allocations that failed for lack of memory: what each needed, what there was, why it did not fit.
--
-- One row per entry `oom` of a history. Before the allocator fails it gives free segments back to
-- the driver and asks it for a new segment, so the driver's free memory and free blocks are both
-- known. A segment is larger than the request: 2 MiB for up to 1 MiB, 20 MiB (or the setting
-- large_segment_size_mb) for less than 10 MiB, otherwise the request rounded up to 2 MiB.
-- Expandable segments grow by whole pages of 2 or 20 MiB.
--
-- unused_bytes is reserved memory that no live allocation holds at that moment. It is more than
-- what is free, because it includes the rounding of sizes. Blocks are known only for the end of the
-- history: is_at_end states whether no memory changed hands since. Only blocks of the pool and of
-- the stream of a request can serve it. verdict:
-- - limit: the driver has enough for the segment, so a limit of the process refused it, such as
--   set_per_process_memory_fraction
-- - too_big: more than the program reserved and the driver has left, so it would not even fit alone
-- - fragmented: free blocks of its pool and stream would suffice, with or without the driver's free
--   memory, but not in one piece
-- - other_pool: free blocks would suffice, but they lie in another pool or belong to another stream
-- - full: free blocks and the driver's free memory together are too little
-- - unclear: free memory may suffice, but what was free in the pool and stream of the request is
--   not known, or a free block was large enough and not taken
-- - unknown: the driver's free memory or the totals are not recorded
--
-- The pool of a request is not recorded before PyTorch 2.15. It is the default pool where the
-- snapshot has no private one. After frees the verdict fragmented is still known where rounding
-- cannot explain what is unused: there is one pool and stream, and no allocation or segment since.
--
-- What other processes hold on the device is not recorded; it is the device's size less
-- reserved_bytes and device_free_bytes.
--
-- Source: pytorch/c10/cuda/CUDACachingAllocator.cpp.
-- Example: SELECT device, requested_bytes, device_free_bytes, live_bytes, missing_bytes, verdict
--   FROM snapshot_ooms
-- Holds: requested_bytes <= segment_bytes
-- Range: any unused_bytes; blocks that wait for a stream may be live without a segment left.
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column device BIGINT id Device number.
-- @column event_id BIGINT id The entry (events.event_id).
-- @column ts_ns BIGINT ns Time since 1970; NULL if not recorded.
-- @column pool VARCHAR text Memory pool of the request: (0, 0) is the default; NULL if not known.
-- @column requested_bytes BIGINT bytes What was asked for, rounded up to 512 bytes.
-- @column segment_bytes BIGINT bytes Size of the segment that the allocator needs for it.
-- @column device_free_bytes BIGINT bytes Free memory of the device by the driver; NULL if not
--   recorded.
-- @column live_bytes BIGINT bytes Live memory of the program; NULL if the file was cut.
-- @column reserved_bytes BIGINT bytes Reserved by the program; NULL if the file was cut.
-- @column unused_bytes BIGINT bytes reserved_bytes less live_bytes.
-- @column missing_bytes BIGINT bytes What the driver lacks for the segment; 0 if nothing.
-- @column inactive_bytes BIGINT bytes Free blocks at the end of the history.
-- @column largest_inactive_bytes BIGINT bytes Largest free block at the end of the history.
-- @column usable_bytes BIGINT bytes Free blocks of its pool and stream at the end of the history;
--   NULL if the pool is not known.
-- @column is_at_end BOOLEAN flag Whether blocks are as they were when it failed.
-- @column verdict VARCHAR text limit, too_big, fragmented, other_pool, full, unclear or unknown.
-- @column site VARCHAR text Innermost frame of the program; NULL without a stack.
-- @column stack_id BIGINT id Where it failed (snapshot_stacks.stack_id); NULL if not recorded.
WITH configured AS (
    SELECT
        trace_id,
        max(CASE WHEN name LIKE '%ALLOC\_CONF' THEN value END) AS conf,
        coalesce(bool_or(name = 'expandable_segments' AND value = 'true'), false) AS is_expandable
    FROM snapshot_settings
    GROUP BY trace_id
),
segments AS (
    SELECT
        trace_id, device, bool_or(expandable) AS is_expandable,
        bool_or(coalesce(pool, '') <> '(0, 0)') AS has_other_pools,
        count(DISTINCT stream) > 1 AS has_streams
    FROM memory_segments
    GROUP BY trace_id, device
),
rounded AS (
    SELECT trace_id, device, sum(bytes - coalesce(requested_bytes, bytes)) AS rounding_bytes
    FROM memory_blocks
    WHERE state <> 'inactive'
    GROUP BY trace_id, device
),
failed AS (
    SELECT
        t.trace_id, t.device, t.event_id, t.ts_ns, t.stream, t.bytes AS requested_bytes,
        json_get_int(e.args, 'device_free') AS device_free_bytes,
        t.live_bytes, t.reserved_bytes, t.stack_id,
        p.inactive_bytes, p.largest_inactive_bytes,
        coalesce(m.pool, CASE WHEN NOT s.has_other_pools THEN '(0, 0)' END) AS pool,
        s.has_other_pools OR s.has_streams AS is_split,
        coalesce(r.rounding_bytes, 0) AS rounding_bytes, c.conf,
        coalesce(c.is_expandable OR s.is_expandable, false) AS is_expandable,
        CASE WHEN t.bytes <= 1048576 THEN 'small' ELSE 'large' END AS kind,
        coalesce(
            CAST(regexp_match(c.conf, 'large_segment_size_mb:\s*([0-9]{1,6})')[1] AS BIGINT), 20)
            * 1048576 AS large_bytes
    FROM snapshot_timeline t
    JOIN events e ON e.trace_id = t.trace_id AND e.event_id = t.event_id
    JOIN memory m ON m.trace_id = t.trace_id AND m.event_id = t.event_id
    JOIN snapshot_peaks p ON p.trace_id = t.trace_id AND p.device = t.device
    LEFT JOIN segments s ON s.trace_id = t.trace_id AND s.device = t.device
    LEFT JOIN rounded r ON r.trace_id = t.trace_id AND r.device = t.device
    LEFT JOIN configured c ON c.trace_id = t.trace_id
    WHERE t.action = 'oom'
),
asked AS (
    SELECT
        *,
        CASE
            WHEN requested_bytes <= 1048576 THEN 2097152
            WHEN requested_bytes < 10485760 THEN greatest(large_bytes, requested_bytes)
            ELSE (requested_bytes + 2097151) / 2097152 * 2097152
        END AS segment_bytes
    FROM failed
),
-- With pages, needed_bytes is the most that the driver must have.
needs AS (
    SELECT
        *,
        CASE
            WHEN NOT is_expandable OR kind = 'small' THEN segment_bytes
            ELSE (segment_bytes + large_bytes - 1) / large_bytes * large_bytes
        END AS needed_bytes
    FROM asked
),
-- Changes since: a free leaves the blocks that are still in use as they were.
later AS (
    SELECT
        n.trace_id, n.event_id, count(*) AS changes,
        count(*) FILTER (WHERE t.action = 'free') AS frees
    FROM needs n
    JOIN snapshot_timeline t ON t.trace_id = n.trace_id AND t.device = n.device
    WHERE t.event_id > n.event_id
        AND t.action NOT IN ('oom', 'snapshot', 'annotate', 'free_requested')
    GROUP BY n.trace_id, n.event_id
),
usable AS (
    SELECT
        n.trace_id, n.event_id, sum(b.bytes) AS usable_bytes,
        max(CASE WHEN s.kind = n.kind THEN b.bytes END) AS largest_bytes
    FROM needs n
    JOIN memory_segments s
        ON s.trace_id = n.trace_id AND s.device = n.device
            AND coalesce(s.pool, '(0, 0)') = n.pool
    JOIN memory_blocks b ON b.trace_id = s.trace_id AND b.segment_id = s.segment_id
    WHERE b.state = 'inactive' AND coalesce(s.stream = n.stream, true)
    GROUP BY n.trace_id, n.event_id
),
-- What is free at least when it failed. A block of the default settings is at most 1 MiB and 511
-- bytes larger than what the program asked for.
known AS (
    SELECT
        n.*, n.reserved_bytes - n.live_bytes AS unused_bytes,
        CASE WHEN n.pool IS NOT NULL THEN coalesce(u.usable_bytes, 0) END AS usable_bytes,
        coalesce(u.largest_bytes, 0) AS usable_largest_bytes,
        coalesce(l.changes, 0) = 0 AS is_at_end,
        CASE
            WHEN l.changes = l.frees AND NOT n.is_split AND n.pool = '(0, 0)'
                AND NOT regexp_like(n.conf, 'max_split_size|roundup_power2')
                THEN n.reserved_bytes - n.live_bytes - n.rounding_bytes - l.frees * 1049087
        END AS least_free_bytes
    FROM needs n
    LEFT JOIN later l ON l.trace_id = n.trace_id AND l.event_id = n.event_id
    LEFT JOIN usable u ON u.trace_id = n.trace_id AND u.event_id = n.event_id
),
compared AS (
    SELECT
        *, needed_bytes - device_free_bytes AS lacking_bytes,
        least(requested_bytes, needed_bytes - device_free_bytes) AS sufficient_bytes
    FROM known
)
SELECT
    f.trace_id, f.device, f.event_id, f.ts_ns, f.pool, f.requested_bytes, f.segment_bytes,
    f.device_free_bytes, f.live_bytes, f.reserved_bytes, f.unused_bytes,
    greatest(f.segment_bytes - f.device_free_bytes, 0) AS missing_bytes,
    f.inactive_bytes, f.largest_inactive_bytes, f.usable_bytes, f.is_at_end,
    CASE
        WHEN f.device_free_bytes IS NULL OR f.requested_bytes IS NULL THEN 'unknown'
        WHEN f.lacking_bytes <= 0 THEN 'limit'
        WHEN f.unused_bytes IS NULL THEN 'unknown'
        WHEN f.segment_bytes > f.reserved_bytes + f.device_free_bytes THEN 'too_big'
        WHEN f.unused_bytes < f.sufficient_bytes THEN 'full'
        WHEN NOT f.is_at_end AND f.least_free_bytes >= f.sufficient_bytes THEN 'fragmented'
        WHEN NOT f.is_at_end THEN 'unclear'
        WHEN f.inactive_bytes < f.sufficient_bytes THEN 'full'
        WHEN f.usable_bytes IS NULL OR f.usable_largest_bytes >= f.requested_bytes THEN 'unclear'
        WHEN f.usable_bytes >= f.sufficient_bytes THEN 'fragmented'
        ELSE 'other_pool'
    END AS verdict,
    s.site, f.stack_id
FROM compared f
LEFT JOIN snapshot_stacks s ON s.trace_id = f.trace_id AND s.stack_id = f.stack_id
