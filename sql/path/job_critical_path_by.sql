-- Time on the critical path of each step of a job, by kind, rank, host, kernel, collective and
-- group.
--
-- A rank with much more than its share of the path, which is 1 by the number of ranks, holds up the
-- others. dimension is what a row is about: the rows of kind add up to the window, and so do those
-- of rank where all time has one, which missing_rank has not.
--
-- Source: job_critical_path.
-- Example: SELECT value, pieces, path_ns, path_pct FROM job_critical_path_by
--   WHERE window_id = 0 AND dimension = 'rank' ORDER BY path_ns DESC LIMIT 5
-- Holds: path_ns > 0
-- Holds: path_pct <= 100.000001
--
-- @scope store
-- @column job VARCHAR text The job (job_ranks.job).
-- @column window_id BIGINT number 0 for all that was recorded, else the number of the step from 1.
-- @column step BIGINT id N of ProfilerStep#N; NULL for window 0.
-- @column dimension VARCHAR text kind, rank, host, kernel, collective or group.
-- @column value VARCHAR text Kind, number of the rank, host, name of the kernel, name of the
--   collective's kernel, or name of the process group.
-- @column pieces BIGINT count Pieces of the path.
-- @column path_ns BIGINT ns Time on the path.
-- @column path_pct DOUBLE pct path_ns as percent of the window.
-- @column status VARCHAR text complete, or what is not known of the window
--   (job_critical_path_windows.status).
WITH entries AS (
    SELECT
        job, window_id, step, dur_ns,
        sum(dur_ns) OVER (PARTITION BY job, window_id) AS window_ns,
        make_array('kind', 'rank', 'host', 'kernel', 'collective', 'group') AS dimensions,
        make_array(
            kind,
            -- A rank that waits for a missing one is not what held up the step.
            CASE WHEN kind <> 'missing_rank' THEN CAST(rank AS VARCHAR) END,
            CASE WHEN kind <> 'missing_rank' THEN host END,
            CASE WHEN kind IN ('compute', 'copy') THEN name END,
            CASE WHEN kind IN ('transfer', 'communication') THEN name END,
            CASE WHEN kind = 'transfer' THEN group_name END
        ) AS names
    FROM job_critical_path
),
single AS (
    SELECT
        job, window_id, step, dur_ns, window_ns,
        unnest(dimensions) AS dimension,
        unnest(names) AS value
    FROM entries
)
SELECT
    s.job, s.window_id, s.step, s.dimension, s.value,
    count(*) AS pieces,
    sum(s.dur_ns) AS path_ns,
    100.0 * sum(s.dur_ns) / nullif(max(s.window_ns), 0) AS path_pct,
    max(coalesce(g.status, 'complete')) AS status
FROM single s
LEFT JOIN _job_window_gaps g ON g.job = s.job AND g.window_id = s.window_id
WHERE s.value IS NOT NULL
GROUP BY s.job, s.window_id, s.step, s.dimension, s.value
