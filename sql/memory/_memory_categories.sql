-- Changes of memory by category, of both forms of memory timelines, in their order.
-- @scope trace
WITH sizes AS (
    SELECT
        c.trace_id, c.event_id, c.ts_ns, c.series AS category,
        CAST(c.value AS BIGINT) AS bytes,
        CAST(c.value AS BIGINT) - coalesce(
            lag(CAST(c.value AS BIGINT)) OVER (
                PARTITION BY c.trace_id, c.series ORDER BY c.event_id
            ), 0
        ) AS change_bytes
    FROM counters c
    JOIN traces t ON t.trace_id = c.trace_id AND t.format = 'memory_timeline'
)
SELECT
    m.trace_id, m.event_id, m.ts_ns, coalesce(m.category, 'unknown') AS category,
    m.bytes AS change_bytes,
    CAST(
        row_number() OVER (PARTITION BY m.trace_id ORDER BY m.ts_ns NULLS FIRST, m.event_id)
        AS BIGINT
    ) AS entry
FROM memory m
JOIN traces t ON t.trace_id = m.trace_id AND t.format = 'memory_timeline'
UNION ALL
SELECT trace_id, event_id, ts_ns, category, change_bytes, event_id AS entry FROM sizes
