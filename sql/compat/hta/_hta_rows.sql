-- Events of a trace as HTA 0.6.1 keeps them: those of _hta_complete without the last step.
--
-- If the trace has steps of two different names, host rows from the start of the last step on are
-- dropped, and so are device rows without a remaining host row of their correlation.
-- @scope trace
WITH last_steps AS (
    SELECT trace_id, max(start_us) AS last_step_us
    FROM _hta_complete
    WHERE starts_with(name, 'ProfilerStep#') AND NOT is_device
    GROUP BY trace_id
    HAVING count(DISTINCT name) > 1
),
host AS (
    SELECT c.*
    FROM _hta_complete c
    LEFT JOIN last_steps s ON s.trace_id = c.trace_id
    WHERE NOT c.is_device AND (s.trace_id IS NULL OR c.start_us < s.last_step_us)
),
kept AS (
    SELECT DISTINCT h.trace_id, h.correlation
    FROM host h
    JOIN last_steps s ON s.trace_id = h.trace_id
    WHERE h.correlation IS NOT NULL
)
SELECT
    trace_id, event_id, track_id, cat, name, correlation, stream, is_device, start_us, end_us,
    end_us - start_us AS dur_us
FROM host
UNION ALL
SELECT
    c.trace_id, c.event_id, c.track_id, c.cat, c.name, c.correlation, c.stream, c.is_device,
    c.start_us, c.end_us,
    c.end_us - c.start_us
FROM _hta_complete c
LEFT JOIN last_steps s ON s.trace_id = c.trace_id
LEFT JOIN kept k ON k.trace_id = c.trace_id AND k.correlation = c.correlation
WHERE c.is_device AND (s.trace_id IS NULL OR k.correlation IS NOT NULL)
