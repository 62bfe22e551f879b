-- Device rows as HTA 0.6.1 sees them: all rows with a stream, with HTA's type and the host row of
-- the same correlation.
--
-- work_type is COMPUTATION, COMMUNICATION, MEMORY or OTHER by the ruleset hta_0_6. launch_id is the
-- host row, the last one in the file of several; its columns are NULL for work without a
-- host row.
-- @scope trace
WITH device AS (SELECT * FROM _hta_rows WHERE stream <> -1),
types AS (
    SELECT name, classify('hta_0_6', name) AS work_type
    FROM (SELECT DISTINCT name FROM device)
),
hosts AS (
    SELECT
        trace_id, correlation,
        last_value(event_id ORDER BY event_id) AS launch_id,
        last_value(name ORDER BY event_id) AS launch_name,
        last_value(start_us ORDER BY event_id) AS launch_start_us,
        last_value(end_us ORDER BY event_id) AS launch_end_us
    FROM _hta_rows
    WHERE correlation IS NOT NULL AND NOT is_device
    GROUP BY trace_id, correlation
)
SELECT
    d.trace_id, d.event_id, d.track_id, d.cat, d.name, d.correlation, d.stream, d.start_us,
    d.end_us, d.dur_us, t.work_type,
    h.launch_id, h.launch_name, h.launch_start_us, h.launch_end_us
FROM device d
LEFT JOIN types t ON t.name = d.name
LEFT JOIN hosts h ON h.trace_id = d.trace_id AND h.correlation = d.correlation
