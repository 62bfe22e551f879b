-- Number of launched activities that have not begun, at each change, as Holistic Trace Analysis
-- 0.6.1 has it.
--
-- A launch call that HTA knows (ruleset hta_queue_call) and that has device work adds one at its
-- start, the work takes one away at its start. Streams are told apart by their number, not by
-- device. At equal times launches come first; HTA leaves that order open, so that its lengths can
-- differ there by one. Rows are those that HTA keeps: whole microseconds, without the last step.
--
-- Source: get_queue_length_time_series of HTA 0.6.1; queue_length has all launch calls, graphs
--   included, and devices.
-- Example: SELECT stream, start_us, queue_length FROM hta_queue_length
--   ORDER BY rank, stream, place LIMIT 5
-- Range: any queue_length, start_us, length_us; work can begin before its call in whole
--   microseconds, and HTA also counts work whose time was not set.
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column stream BIGINT id Stream.
-- @column place BIGINT number Number of the change on the stream, from 1.
-- @column event_id BIGINT id The launch call or the activity (events.event_id).
-- @column start_us BIGINT us Its start, on the trace's own clock.
-- @column queue_length BIGINT count Length after the change.
-- @column length_us BIGINT us Time to the next change on the stream; NULL for the last one.
WITH names AS (
    SELECT name
    FROM (SELECT DISTINCT name FROM _hta_rows WHERE NOT is_device)
    WHERE classify('hta_queue_call', name) IS NOT NULL
),
launches AS (
    SELECT r.trace_id, r.event_id, r.correlation, r.start_us
    FROM _hta_rows r
    JOIN names n ON n.name = r.name
    WHERE r.correlation IS NOT NULL
),
changes AS (
    SELECT w.trace_id, w.stream, l.start_us, l.event_id, 1 AS change
    FROM launches l
    JOIN _hta_work w ON w.trace_id = l.trace_id AND w.correlation = l.correlation
    UNION ALL
    SELECT w.trace_id, w.stream, w.start_us, w.event_id, -1
    FROM _hta_work w
    JOIN (SELECT DISTINCT trace_id, correlation FROM launches) l
        ON l.trace_id = w.trace_id AND l.correlation = w.correlation
)
SELECT
    c.trace_id, t.rank, c.stream,
    CAST(row_number() OVER on_stream AS BIGINT) AS place,
    c.event_id, c.start_us,
    running_sum(c.change) OVER on_stream AS queue_length,
    lead(c.start_us) OVER on_stream - c.start_us AS length_us
FROM changes c
JOIN traces t ON t.trace_id = c.trace_id
WINDOW on_stream AS (
    PARTITION BY c.trace_id, c.stream ORDER BY c.start_us, c.change DESC, c.event_id
)
