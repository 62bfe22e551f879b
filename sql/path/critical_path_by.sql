-- Time on the critical path of each window, by kind, operator, kernel, stream, thread and cause.
--
-- dimension is what a row is about. The rows of kind add up to the window. Those of operator cover
-- the pieces with an operator, those of kernel, stream and thread the pieces of their sort, and
-- those of cause the pieces that waited for something.
--
-- Source: critical_path.
-- Example: SELECT value, pieces, path_ns, path_pct FROM critical_path_by
--   WHERE window_id = 0 AND dimension = 'operator' ORDER BY path_ns DESC LIMIT 5
-- Holds: path_ns > 0
-- Holds: path_pct <= 100.000001
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column window_id BIGINT number 0 for the whole trace, else the number of the step mark from 1.
-- @column step BIGINT id N of ProfilerStep#N; NULL for the whole trace.
-- @column dimension VARCHAR text kind, operator, kernel, stream, thread or cause.
-- @column value VARCHAR text Kind, name of the operator or kernel, device and stream, thread, or
--   the kind with what was waited for.
-- @column pieces BIGINT count Pieces of the path.
-- @column path_ns BIGINT ns Time on the path.
-- @column path_pct DOUBLE pct path_ns as percent of the window.
WITH alike AS (
    SELECT
        trace_id, rank, window_id, step, kind, op_name, name, thread, device, stream, cause_name,
        count(*) AS pieces, sum(dur_ns) AS dur_ns
    FROM critical_path
    GROUP BY
        trace_id, rank, window_id, step, kind, op_name, name, thread, device, stream, cause_name
),
entries AS (
    SELECT
        trace_id, rank, window_id, step, pieces, dur_ns,
        unnest(make_array('kind', 'operator', 'kernel', 'stream', 'thread', 'cause')) AS dimension,
        unnest(make_array(
            kind,
            op_name,
            CASE WHEN kind IN ('compute', 'communication', 'copy') THEN name END,
            CASE
                WHEN stream IS NOT NULL
                    THEN concat('device ', coalesce(CAST(device AS VARCHAR), '?'), ' stream ',
                        CAST(stream AS VARCHAR))
            END,
            thread,
            CASE WHEN cause_name IS NOT NULL THEN concat(kind, ': ', cause_name) END
        )) AS value
    FROM alike
)
SELECT
    e.trace_id, e.rank, e.window_id, e.step, e.dimension, e.value,
    sum(e.pieces) AS pieces,
    sum(e.dur_ns) AS path_ns,
    100.0 * sum(e.dur_ns) / NULLIF(max(w.to_ns - w.from_ns), 0) AS path_pct
FROM entries e
JOIN _path_windows w ON w.trace_id = e.trace_id AND w.window_id = e.window_id
WHERE e.value IS NOT NULL
GROUP BY e.trace_id, e.rank, e.window_id, e.step, e.dimension, e.value
