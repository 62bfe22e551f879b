-- The events of a trace as Holistic Trace Analysis reads them: complete events with a category, in
-- whole microseconds.
--
-- The start is rounded up and the end down, which makes the duration of some events below 1 us -1.
-- Numbers that are missing are -1. HTA computes with floating-point microseconds, so times since
-- 1970 are exact to 0.25 us only; that is repeated here. pid and tid are as written, texts in
-- quotes. The function hta_graph takes these rows, or a part of them.
--
-- Source: the parser of traceinsight 0.6.1.
-- Example: SELECT event_id, name, ts_us, dur_us, stream, correlation FROM hta_events
--   ORDER BY event_id LIMIT 5
-- Range: any ts_us, dur_us; rounding moves starts by up to 1 us and makes some events -1 us long.
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column event_id BIGINT id Position in the event list (events.event_id).
-- @column name VARCHAR text Name.
-- @column cat VARCHAR text Category.
-- @column ts_us BIGINT us Start, rounded up.
-- @column dur_us BIGINT us Duration between the rounded times; can be -1.
-- @column pid VARCHAR text Process id as written.
-- @column tid VARCHAR text Thread id as written.
-- @column stream BIGINT id Stream; -1 without one.
-- @column correlation BIGINT id Correlation; -1 without one.
-- @column wait_on_stream BIGINT id Stream of the event that a wait waits for; -1 without one.
-- @column wait_on_correlation BIGINT id Correlation of the call that recorded this event; -1
--   without one.
WITH times AS (
    SELECT
        e.trace_id, e.event_id, e.track_id, e.pid, e.tid, e.name, e.cat, e.stream,
        CASE
            WHEN e.correlation IS NOT NULL THEN e.correlation
            WHEN strpos(e.args, '"correlation"') > 0 THEN json_get_int(e.args, 'correlation')
        END AS correlation,
        CAST(e.ts_ns / 1000 AS DOUBLE) + CAST(e.ts_ns % 1000 AS DOUBLE) / 1000.0 AS start_us,
        CAST(e.dur_ns / 1000 AS DOUBLE) + CAST(e.dur_ns % 1000 AS DOUBLE) / 1000.0 AS length_us
    FROM events e
    WHERE e.ph = 'X' AND e.ts_ns IS NOT NULL AND e.dur_ns IS NOT NULL AND e.cat <> 'Trace'
)
SELECT
    e.trace_id, e.event_id, coalesce(e.name, '') AS name, e.cat,
    CAST(ceil(e.start_us) AS BIGINT) AS ts_us,
    CAST(floor(e.start_us + e.length_us) - ceil(e.start_us) AS BIGINT) AS dur_us,
    CASE
        WHEN e.pid IS NOT NULL THEN CAST(e.pid AS VARCHAR)
        ELSE coalesce('''' || t.pid_text || '''', 'None')
    END AS pid,
    CASE
        WHEN e.tid IS NOT NULL THEN CAST(e.tid AS VARCHAR)
        ELSE coalesce('''' || t.tid_text || '''', 'None')
    END AS tid,
    coalesce(e.stream, -1) AS stream,
    coalesce(e.correlation, -1) AS correlation,
    coalesce(k.wait_on_stream, -1) AS wait_on_stream,
    coalesce(k.wait_on_event_record_correlation, -1) AS wait_on_correlation
FROM times e
JOIN tracks t ON t.trace_id = e.trace_id AND t.track_id = e.track_id
LEFT JOIN kernels k
    ON k.trace_id = e.trace_id AND k.event_id = e.event_id AND k.wait_on_stream IS NOT NULL
