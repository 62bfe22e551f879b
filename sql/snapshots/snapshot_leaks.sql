-- Memory that was allocated between two marks and is still live at the second, by stack.
--
-- The marks are events: settings snapshot_mark_start and snapshot_mark_end. Without them (-1) they
-- are the beginning and the end of the history. Take the first after warm-up and the second some
-- equal steps later: what grows in between and is not freed is a candidate for a leak.
--
-- Example: SELECT stack_id, allocations, bytes, site FROM snapshot_leaks ORDER BY bytes DESC LIMIT 5
-- Holds: largest_bytes <= bytes
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column device BIGINT id Device number; -1 is the host.
-- @column stack_id BIGINT id Where it was allocated (snapshot_stacks.stack_id); NULL if not recorded.
-- @column category VARCHAR text Category of the stack; unknown without one.
-- @column site VARCHAR text Innermost frame of the program; NULL without a stack.
-- @column allocations BIGINT count Allocations that remain.
-- @column bytes BIGINT bytes Their size.
-- @column largest_bytes BIGINT bytes Size of the largest.
-- @column first_event_id BIGINT id The first of them (events.event_id).
-- @column last_event_id BIGINT id The last of them (events.event_id).
-- @column made_allocations BIGINT count All allocations of the stack between the marks.
-- @column made_bytes BIGINT bytes Their size.
WITH marks AS (
    SELECT
        setting_int('snapshot_mark_start') AS start_id,
        CASE
            WHEN setting_int('snapshot_mark_end') < 0 THEN 9223372036854775807
            ELSE setting_int('snapshot_mark_end')
        END AS end_id
),
made AS (
    SELECT
        a.trace_id, a.device, a.stack_id, a.bytes, a.alloc_event_id,
        (a.end_event_id IS NULL OR a.end_event_id > k.end_id) AND a.state <> 'lost' AS remains
    FROM snapshot_allocations a
    CROSS JOIN marks k
    WHERE a.alloc_event_id > k.start_id AND a.alloc_event_id <= k.end_id
),
summed AS (
    SELECT
        trace_id, device, stack_id,
        count(*) FILTER (WHERE remains) AS allocations,
        coalesce(sum(bytes) FILTER (WHERE remains), 0) AS bytes,
        max(bytes) FILTER (WHERE remains) AS largest_bytes,
        min(alloc_event_id) FILTER (WHERE remains) AS first_event_id,
        max(alloc_event_id) FILTER (WHERE remains) AS last_event_id,
        count(*) AS made_allocations,
        sum(bytes) AS made_bytes
    FROM made
    GROUP BY trace_id, device, stack_id
)
SELECT
    m.trace_id, m.device, m.stack_id,
    coalesce(s.category, 'unknown') AS category,
    s.site, m.allocations, m.bytes, m.largest_bytes, m.first_event_id, m.last_event_id,
    m.made_allocations, m.made_bytes
FROM summed m
LEFT JOIN snapshot_stacks s ON s.trace_id = m.trace_id AND s.stack_id = m.stack_id
WHERE m.allocations > 0
