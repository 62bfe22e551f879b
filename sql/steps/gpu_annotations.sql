-- Annotations of devices by stream and name: how often, how long, and the work inside.
--
-- An annotation of a device (category gpu_user_annotation, which PyTorch writes since 2023) lasts
-- from the first start to the last end of the work that a user annotation launched on one stream.
-- Work belongs to it if it begins in its time. Annotations nest: an inner one and its work are also
-- counted in the outer one. work_ns is a sum of durations, so work of overlapping annotations
-- counts in each. regions has annotations of the host with the work that they launched, for all
-- traces.
--
-- Source: get_gpu_user_annotation_breakdown of Holistic Trace Analysis; hta_user_annotations has
--   its own numbers.
-- Example: SELECT device, stream, name, annotations, total_ns, work_ns FROM gpu_annotations
--   ORDER BY total_ns DESC LIMIT 5
-- Holds: min_ns <= mean_ns AND mean_ns <= max_ns
-- Range: sum total_ns, work_ns
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column device BIGINT id Device of the stream.
-- @column stream BIGINT id Stream.
-- @column name VARCHAR text Name of the annotation.
-- @column annotations BIGINT count Number of annotations.
-- @column total_ns BIGINT ns Sum of their durations.
-- @column mean_ns DOUBLE ns Mean duration.
-- @column min_ns BIGINT ns The shortest.
-- @column max_ns BIGINT ns The longest.
-- @column work BIGINT count Kernels, copies and fills that begin inside.
-- @column work_ns BIGINT ns Sum of their durations.
WITH inside AS (
    SELECT
        trace_id, a_event_id AS event_id,
        count(*) AS work,
        sum(b_dur_ns) AS work_ns
    FROM interval_intersect(
        (SELECT trace_id, track_id, event_id, ts_ns, end_ns FROM _gpu_annotations),
        (
            SELECT trace_id, track_id, dur_ns, ts_ns, ts_ns + 1 AS end_ns
            FROM kernels
            WHERE kind IN ('kernel', 'memcpy', 'memset') AND ts_ns IS NOT NULL AND dur_ns >= 0
        ),
        by => (trace_id, track_id)
    )
    GROUP BY trace_id, a_event_id
)
SELECT
    a.trace_id, t.rank, k.device, k.stream, a.name,
    count(*) AS annotations,
    sum(a.dur_ns) AS total_ns,
    avg(a.dur_ns) AS mean_ns,
    min(a.dur_ns) AS min_ns,
    max(a.dur_ns) AS max_ns,
    coalesce(sum(i.work), 0) AS work,
    coalesce(sum(i.work_ns), 0) AS work_ns
FROM _gpu_annotations a
JOIN traces t ON t.trace_id = a.trace_id
JOIN tracks k ON k.trace_id = a.trace_id AND k.track_id = a.track_id
LEFT JOIN inside i ON i.trace_id = a.trace_id AND i.event_id = a.event_id
GROUP BY a.trace_id, t.rank, k.device, k.stream, a.name
