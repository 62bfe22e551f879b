-- Kernels, copies and fills with the annotation around them: that of the device, and that of the
-- host around their launch.
--
-- device_annotation is the innermost annotation of the device (category gpu_user_annotation) on the
-- same stream in whose time the work begins; PyTorch writes them since 2023. host_annotation is the
-- innermost region of the program (user annotations without steps and marks of collectives, as in
-- regions) on the launch's thread in whose time the launch begins. annotation is the first of the
-- two that is known. Work outside of annotations keeps its row.
--
-- Source: get_gpu_kernels_with_user_annotations of Holistic Trace Analysis, which knows annotations
--   of the device only; hta_kernels_with_annotations has its own numbers.
-- Example: SELECT annotation, count(*) AS work, sum(dur_ns) AS work_ns FROM kernel_annotations
--   GROUP BY annotation ORDER BY work_ns DESC LIMIT 5
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column event_id BIGINT id The activity (events.event_id).
-- @column kind VARCHAR text kernel, memcpy or memset.
-- @column name VARCHAR text Its name.
-- @column device BIGINT id Its device.
-- @column stream BIGINT id Its stream.
-- @column step BIGINT id Step of the launch; NULL outside steps.
-- @column ts_ns BIGINT ns Its start.
-- @column dur_ns BIGINT ns Its duration.
-- @column annotation VARCHAR text device_annotation, else host_annotation; NULL for none.
-- @column device_annotation_id BIGINT id The annotation of the device (events.event_id).
-- @column device_annotation VARCHAR text Its name; NULL for none.
-- @column host_annotation_id BIGINT id The annotation of the host (events.event_id).
-- @column host_annotation VARCHAR text Its name; NULL for none.
WITH work AS (
    SELECT
        k.trace_id, k.event_id, k.kind, k.name, k.device, k.stream, k.step, k.ts_ns, k.dur_ns,
        k.track_id, l.track_id AS launch_track_id, l.ts_ns AS launch_ns
    FROM kernels k
    LEFT JOIN events l ON l.trace_id = k.trace_id AND l.event_id = k.launch_id
    WHERE k.kind IN ('kernel', 'memcpy', 'memset')
),
on_device AS (
    SELECT trace_id, track_id, ts_ns, end_ns, event_id, name
    FROM interval_flatten((SELECT * FROM _gpu_annotations), by => (trace_id, track_id))
),
on_host AS (
    SELECT trace_id, track_id AS launch_track_id, ts_ns, end_ns, event_id, name
    FROM interval_flatten((SELECT * FROM _regions), by => (trace_id, track_id))
),
in_device AS (
    SELECT
        *,
        CASE WHEN ts_ns < right_end_ns THEN right_event_id END AS device_annotation_id,
        CASE WHEN ts_ns < right_end_ns THEN right_name END AS device_annotation
    FROM asof_join((SELECT * FROM work), (SELECT * FROM on_device), by => (trace_id, track_id))
),
in_host AS (
    SELECT
        trace_id, event_id,
        CASE WHEN launch_ns < right_end_ns THEN right_event_id END AS host_annotation_id,
        CASE WHEN launch_ns < right_end_ns THEN right_name END AS host_annotation
    FROM asof_join(
        (SELECT trace_id, event_id, launch_track_id, launch_ns FROM work), (SELECT * FROM on_host),
        by => (trace_id, launch_track_id), left_time => launch_ns, right_time => ts_ns
    )
)
SELECT
    d.trace_id, t.rank, d.event_id, d.kind, d.name, d.device, d.stream, d.step, d.ts_ns, d.dur_ns,
    coalesce(d.device_annotation, h.host_annotation) AS annotation,
    d.device_annotation_id, d.device_annotation, h.host_annotation_id, h.host_annotation
FROM in_device d
JOIN in_host h ON h.trace_id = d.trace_id AND h.event_id = d.event_id
JOIN traces t ON t.trace_id = d.trace_id
