-- Where the first call of each row of operator_roofline with a roofline was made, and the strides
-- of its inputs.
--
-- call_site is the innermost frame of Python or module around the call that belongs neither to
-- PyTorch nor to Python itself, else the modules or the first frame of the text that the call
-- recorded. It is NULL where neither is recorded; calls of the backward pass have none.
-- @scope trace
WITH firsts AS (
    SELECT
        e.trace_id, e.event_id, e.pre, e.input_strides,
        e.pre + 1 AS next_pre,
        coalesce(nullif(e.module_hierarchy, ''), nullif(split_part(e.call_stack, ';', 1), ''))
            AS text
    FROM (
        SELECT DISTINCT trace_id, first_event_id
        FROM operator_roofline
        WHERE roofline_ns IS NOT NULL
    ) AS o
    JOIN events e ON e.trace_id = o.trace_id AND e.event_id = o.first_event_id
),
frames AS (
    SELECT trace_id, name, pre, post + 1 AS next_pre
    FROM events
    WHERE cat = 'python_function' AND dur_ns IS NOT NULL AND post > pre
),
pairs AS (
    SELECT trace_id, a_event_id AS event_id, b_name AS name, b_pre AS pre
    FROM interval_intersect(
        (SELECT trace_id, event_id, pre, next_pre FROM firsts),
        (SELECT * FROM frames),
        by => trace_id, start => pre, end => next_pre
    )
),
own AS (
    SELECT name
    FROM (SELECT DISTINCT name FROM pairs) AS n
    WHERE classify('python_frame', name) IS NULL
),
innermost AS (
    SELECT p.trace_id, p.event_id, first_value(p.name ORDER BY p.pre DESC) AS frame
    FROM pairs p
    JOIN own o ON o.name = p.name
    GROUP BY p.trace_id, p.event_id
)
SELECT f.trace_id, f.event_id, f.input_strides, coalesce(i.frame, f.text) AS call_site
FROM firsts f
LEFT JOIN innermost i ON i.trace_id = f.trace_id AND i.event_id = f.event_id
