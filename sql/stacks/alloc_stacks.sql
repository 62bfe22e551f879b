-- The stack at which memory was allocated.
--
-- The stack is that of the innermost event open on the thread at the time. Memory snapshots record
-- the stack of each allocation. Allocations outside of any event have the frame `(outside of
-- events)`. Frees have no row: what was freed where says
-- little about who holds memory.
--
-- Source: `[memory]` events, and entries of memory snapshots.
-- Example: SELECT stack_leaf(stack) AS operator, sum(bytes) AS bytes FROM alloc_stacks GROUP BY 1
--   ORDER BY 2 DESC LIMIT 5
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column event_id BIGINT id The allocation (memory.event_id).
-- @column ts_ns BIGINT ns Time.
-- @column step BIGINT id Step; NULL outside of steps.
-- @column track_id BIGINT id Thread.
-- @column device_type VARCHAR text cpu, cuda, ….
-- @column device BIGINT id Device; -1 is the host.
-- @column bytes BIGINT bytes Size.
-- @column stack VARCHAR[] list Frames, root first.
-- Old profilers write the same thread as a number to memory events and as a text to others, which
-- makes two tracks of it.
WITH split AS (
    SELECT trace_id, track_id, thread_id
    FROM (
        SELECT
            trace_id, track_id,
            min(track_id) OVER thread AS thread_id,
            count(*) OVER thread AS tracks
        FROM tracks
        WINDOW thread AS (PARTITION BY trace_id, pid_text, tid_text)
    )
    WHERE tracks > 1
),
instants AS (
    SELECT DISTINCT e.trace_id, t.thread_id, e.track_id, e.ts_ns
    FROM memory m
    JOIN events e ON e.trace_id = m.trace_id AND e.event_id = m.event_id
    JOIN split t ON t.trace_id = e.trace_id AND t.track_id = e.track_id
    WHERE m.action = 'alloc' AND m.bytes > 0 AND e.parent_id IS NULL
),
items AS (
    SELECT e.trace_id, t.thread_id, e.track_id, e.event_id, e.ts_ns, e.end_ns
    FROM events e
    JOIN split t ON t.trace_id = e.trace_id AND t.track_id = e.track_id
    WHERE e.ph IN ('X', 'B') AND e.dur_ns > 0
    UNION ALL
    SELECT trace_id, thread_id, track_id, NULL, ts_ns, ts_ns AS end_ns FROM instants
),
sites AS (
    SELECT
        trace_id, track_id, ts_ns, event_id,
        nest_parent(event_id, ts_ns, end_ns) OVER (
            PARTITION BY trace_id, thread_id ORDER BY ts_ns, end_ns DESC, event_id
        ) AS parent_id
    FROM items
)
SELECT
    m.trace_id, m.event_id, m.ts_ns, m.step, e.track_id, m.device_type, m.device, m.bytes,
    coalesce(s.stack, n.stack, ['(outside of events)']) AS stack
FROM memory m
JOIN events e ON e.trace_id = m.trace_id AND e.event_id = m.event_id
LEFT JOIN (SELECT * FROM sites WHERE event_id IS NULL) p
    ON p.trace_id = e.trace_id AND p.track_id = e.track_id AND p.ts_ns = e.ts_ns
LEFT JOIN event_stacks s
    ON s.trace_id = e.trace_id AND s.event_id = coalesce(e.parent_id, p.parent_id)
LEFT JOIN snapshot_stacks n ON n.trace_id = m.trace_id AND n.stack_id = m.stack_id
WHERE m.action = 'alloc' AND m.bytes > 0
