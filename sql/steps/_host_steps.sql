-- Steps as the host saw them, numbered from 0 by start. A trace without steps has a single one that
-- spans its operators, or its device work if it has no operators (is_device_window). Work whose time
-- was not set lies outside of its trace and does not count.
-- @scope trace
WITH stepless AS (
    SELECT t.trace_id, t.start_ns AS first_ns, t.end_ns AS last_ns
    FROM traces t
    LEFT JOIN (SELECT DISTINCT trace_id FROM steps) s ON s.trace_id = t.trace_id
    WHERE s.trace_id IS NULL
),
extents AS (
    SELECT
        trace_id,
        coalesce(min(ts_ns) FILTER (WHERE on_host), min(ts_ns)) AS start_ns,
        coalesce(max(end_ns) FILTER (WHERE on_host), max(end_ns)) AS end_ns,
        NOT bool_or(on_host) AS is_device_window
    FROM (
        SELECT h.trace_id, h.ts_ns, h.end_ns, true AS on_host
        FROM stepless s
        JOIN _host_calls h ON h.trace_id = s.trace_id
        WHERE h.kind NOT IN ('launch', 'module', 'collective')
            AND h.ts_ns BETWEEN s.first_ns AND s.last_ns
        UNION ALL
        SELECT k.trace_id, k.ts_ns, k.end_ns, false
        FROM stepless s
        JOIN kernels k ON k.trace_id = s.trace_id
        WHERE k.kind IN ('kernel', 'memcpy', 'memset') AND k.dur_ns IS NOT NULL
    )
    GROUP BY trace_id
),
every AS (
    SELECT
        trace_id, step, start_ns, end_ns, event_id, true AS is_marked, false AS is_device_window
    FROM steps
    UNION ALL
    SELECT trace_id, 0, start_ns, end_ns, -1, false, is_device_window FROM extents
)
SELECT
    *,
    CAST(
        row_number() OVER (PARTITION BY trace_id ORDER BY start_ns, event_id) AS BIGINT
    ) - 1 AS ordinal
FROM every
