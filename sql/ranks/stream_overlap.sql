-- Time in which two streams of a device are busy at once, by step.
--
-- One row per pair of streams that overlap. Steps are those of the launches; work outside steps has
-- the step NULL.
--
-- Example: SELECT rank, step, stream_a, stream_b, overlap_ns FROM stream_overlap
--   ORDER BY overlap_ns DESC LIMIT 5
--
-- @scope job
-- @column trace_id VARCHAR text The trace.
-- @column job VARCHAR text The job (job_ranks.job); NULL if the rank is not known.
-- @column rank BIGINT id Rank of the trace; NULL if not known.
-- @column device BIGINT id Device.
-- @column step BIGINT id Step of the work on stream_a; NULL outside steps.
-- @column stream_a BIGINT id The lower of both streams.
-- @column stream_b BIGINT id The other one.
-- @column overlap_ns BIGINT ns Time in which both are busy.
WITH busy AS (
    SELECT trace_id, device, stream, step, ts_ns, end_ns
    FROM interval_merge(
        (
            SELECT trace_id, device, stream, step, ts_ns, end_ns
            FROM kernels
            WHERE kind IN ('kernel', 'memcpy', 'memset') AND dur_ns > 0 AND stream IS NOT NULL
        ),
        by => (trace_id, device, stream, step))
)
SELECT
    o.trace_id, j.job, j.rank, o.device, o.step, o.stream_a, o.stream_b, o.overlap_ns
FROM (
    SELECT
        trace_id, device,
        a_step AS step,
        a_stream AS stream_a,
        b_stream AS stream_b,
        interval_union_len(ts_ns, end_ns) AS overlap_ns
    FROM interval_intersect(
        (SELECT trace_id, device, stream, step, ts_ns, end_ns FROM busy),
        (SELECT trace_id, device, stream, ts_ns, end_ns FROM busy),
        by => (trace_id, device))
    WHERE a_stream < b_stream
    GROUP BY trace_id, device, a_step, a_stream, b_stream
) o
LEFT JOIN job_ranks j ON j.trace_id = o.trace_id
