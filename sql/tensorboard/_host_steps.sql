-- Steps as the host saw them, numbered from 0 by start; a trace without any has one that spans its operators, else its device work.
WITH extents AS (
    SELECT trace_id, min(ts_ns) AS start_ns, max(end_ns) AS end_ns, bool_or(kind = 'step') AS has_steps
    FROM _host_calls
    WHERE kind NOT IN ('launch', 'module', 'collective')
    GROUP BY trace_id
),
device AS (
    SELECT trace_id, min(ts_ns) AS start_ns, max(end_ns) AS end_ns FROM kernels WHERE kind IN ('kernel', 'memcpy', 'memset') GROUP BY trace_id
),
every AS (
    SELECT trace_id, step, start_ns, end_ns, event_id, true AS is_marked FROM steps
    UNION ALL
    SELECT
        coalesce(e.trace_id, d.trace_id), 0, coalesce(e.start_ns, d.start_ns), coalesce(e.end_ns, d.end_ns), -1, false
    FROM extents e
    FULL JOIN device d ON d.trace_id = e.trace_id
    WHERE NOT coalesce(e.has_steps, false)
)
SELECT *, row_number() OVER (PARTITION BY trace_id ORDER BY start_ns, event_id) - 1 AS ordinal FROM every
