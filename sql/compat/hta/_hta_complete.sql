-- Complete events with a category in whole microseconds, as HTA 0.6.1 rounds them.
--
-- If any time of the trace has a fraction of a microsecond, starts are rounded up and ends down, in
-- floating point as in Python, so that an event below 1 us can have a duration of -1. stream is -1
-- without an argument of that name. is_device marks rows with a stream and a correlation.
-- @scope trace
WITH fractions AS (
    SELECT trace_id, bool_or(ts_ns % 1000 <> 0) AS has_fraction
    FROM events
    WHERE ph = 'X'
    GROUP BY trace_id
),
decimal AS (
    SELECT
        e.trace_id, e.event_id, e.track_id, e.cat, e.name, e.correlation,
        coalesce(e.stream, -1) AS stream,
        (coalesce(e.stream, -1) >= 0 AND e.correlation IS NOT NULL)
            OR coalesce(e.name IN ('Event Sync', 'Context Sync'), false) AS is_device,
        f.has_fraction, e.ts_ns, e.dur_ns,
        CAST(e.ts_ns / 1000 AS DOUBLE) + CAST(e.ts_ns % 1000 AS DOUBLE) / 1000.0 AS start_float,
        CAST(e.dur_ns / 1000 AS DOUBLE) + CAST(e.dur_ns % 1000 AS DOUBLE) / 1000.0 AS dur_float
    FROM events e
    JOIN fractions f ON f.trace_id = e.trace_id
    WHERE e.ph = 'X' AND e.dur_ns IS NOT NULL AND e.cat IS NOT NULL AND e.cat <> 'Trace'
)
SELECT
    trace_id, event_id, track_id, cat, name, correlation, stream, is_device,
    CASE WHEN has_fraction THEN CAST(ceil(start_float) AS BIGINT) ELSE ts_ns / 1000 END
        AS start_us,
    CASE
        WHEN has_fraction THEN CAST(floor(start_float + dur_float) AS BIGINT)
        ELSE ts_ns / 1000 + dur_ns / 1000
    END AS end_us
FROM decimal
