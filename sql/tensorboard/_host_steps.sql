-- Steps as the host saw them, numbered from 0 by start; a trace without any has one that spans its operators, else its device work.
WITH marked AS (
    SELECT trace_id, step, start_ns, end_ns, event_id FROM steps
),
without AS (
    SELECT trace_id, min(ts_ns) AS start_ns, max(end_ns) AS end_ns
    FROM _host_nodes
    WHERE kind NOT IN ('module', 'collective')
    GROUP BY trace_id
    HAVING NOT bool_or(kind = 'step')
),
device_only AS (
    SELECT d.trace_id, min(d.ts_ns) AS start_ns, max(d.end_ns) AS end_ns
    FROM _device_work d
    LEFT JOIN (SELECT DISTINCT trace_id FROM _host_nodes WHERE kind NOT IN ('module', 'collective')) h ON h.trace_id = d.trace_id
    WHERE h.trace_id IS NULL
    GROUP BY d.trace_id
),
every AS (
    SELECT trace_id, step, start_ns, end_ns, event_id, true AS marked FROM marked
    UNION ALL
    SELECT trace_id, 0, start_ns, end_ns, -1, false FROM without
    UNION ALL
    SELECT trace_id, 0, start_ns, end_ns, -1, false FROM device_only
)
SELECT *, row_number() OVER (PARTITION BY trace_id ORDER BY start_ns, event_id) - 1 AS ordinal FROM every
