-- Device work with the annotation of the device around it, as Holistic Trace Analysis 0.6.1 has it.
--
-- An annotation is a row of category gpu_user_annotation on the same process and thread of the
-- trace. Of several that overlap the work the shortest counts. Work of length 0 has no annotation.
-- Rows are those that HTA keeps: whole microseconds, without the last step. Traces without such
-- annotations have no rows.
--
-- Source: get_gpu_kernels_with_user_annotations of HTA 0.6.1; kernel_annotations has exact times
--   and also annotations of the host.
-- Example: SELECT annotation, count(*) AS work FROM hta_kernels_with_annotations
--   GROUP BY annotation ORDER BY work DESC LIMIT 5
-- Range: any start_us, dur_us; starts are rounded up, and an event below 1 us can have -1.
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column event_id BIGINT id The activity (events.event_id).
-- @column start_us BIGINT us Its start, on the trace's own clock.
-- @column dur_us BIGINT us Its duration.
-- @column stream BIGINT id Its stream.
-- @column correlation BIGINT id Its correlation.
-- @column name VARCHAR text Its name; HTA shortens it.
-- @column annotation VARCHAR text The annotation; NULL if no annotation encloses the kernel.
WITH annotations AS (
    SELECT trace_id, track_id, event_id, name, start_us, end_us, dur_us
    FROM _hta_rows
    WHERE cat = 'gpu_user_annotation'
),
pairs AS (
    SELECT
        trace_id, a_event_id AS event_id,
        first_value(b_name ORDER BY b_dur_us, b_event_id) AS annotation
    FROM interval_intersect(
        (
            SELECT trace_id, track_id, event_id, start_us, end_us
            FROM _hta_work
            WHERE end_us > start_us
        ),
        (SELECT * FROM annotations WHERE end_us > start_us),
        by => (trace_id, track_id), start => start_us, end => end_us
    )
    GROUP BY trace_id, a_event_id
)
SELECT
    w.trace_id, t.rank, w.event_id, w.start_us, w.dur_us, w.stream, w.correlation, w.name,
    p.annotation
FROM _hta_work w
JOIN (SELECT DISTINCT trace_id FROM annotations) a ON a.trace_id = w.trace_id
JOIN traces t ON t.trace_id = w.trace_id
LEFT JOIN pairs p ON p.trace_id = w.trace_id AND p.event_id = w.event_id
WHERE w.correlation IS NOT NULL
