-- Names in the first step of a trace, with their rows and durations, by the rules of HTA 0.6.1.
-- @scope trace
WITH steps AS (
    SELECT
        trace_id, start_us, end_us,
        TRY_CAST(split_part(name, '#', 2) AS BIGINT) AS step
    FROM _hta_complete
    WHERE starts_with(name, 'ProfilerStep#')
),
first_steps AS (
    SELECT s.trace_id, s.start_us, s.end_us, s.step
    FROM steps s
    JOIN (SELECT trace_id, min(step) AS step FROM steps GROUP BY trace_id) f
        ON f.trace_id = s.trace_id AND f.step = s.step
),
candidates AS (
    SELECT DISTINCT
        c.trace_id, c.event_id, c.name, c.correlation, c.start_us, c.end_us - c.start_us AS dur_us,
        f.step
    FROM _hta_complete c
    JOIN first_steps f
        ON f.trace_id = c.trace_id AND f.start_us <= c.start_us AND c.start_us < f.end_us
    WHERE c.stream < 0 AND NOT c.is_device
),
in_first AS (
    -- A row in several steps belongs to the last one of them.
    SELECT c.trace_id, c.event_id, c.name, c.correlation, c.dur_us
    FROM candidates c
    LEFT ANTI JOIN steps s
        ON s.trace_id = c.trace_id AND s.step > c.step
            AND s.start_us <= c.start_us AND c.start_us < s.end_us
),
rows AS (
    SELECT trace_id, name, dur_us FROM in_first
    UNION ALL
    SELECT d.trace_id, d.name, d.end_us - d.start_us
    FROM _hta_complete d
    JOIN (
        SELECT DISTINCT trace_id, correlation FROM in_first WHERE correlation IS NOT NULL
    ) l ON l.trace_id = d.trace_id AND l.correlation = d.correlation
    WHERE d.is_device AND d.stream > 0
)
SELECT trace_id, name, count(*) AS counts, sum(dur_us) AS total_us
FROM rows
GROUP BY trace_id, name
