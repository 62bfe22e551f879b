-- Lengths of the activities of a job that others may wait for. like_key is equal for those that
-- should take equally long, kind_key for those that should scatter alike: kernels and copies by
-- name, size and place in the step, exchanges by collective, message and group size, loading by
-- name, stretches between collectives by the calls around them and the place in the step. Stretches
-- of ranks that were not recorded count only if those of recorded ranks are alike: they may hold
-- calls with others that were not recorded. source is the rank or group that they belong to.
-- @scope store
WITH exchanges AS (
    SELECT
        *,
        concat_ws(
            '|', collective, group_size, hosts,
            coalesce(round(ln(nullif(size_bytes, 0)) / ln(1.02)), -1)
        ) AS like_key
    FROM _call_waits
    WHERE status = 'complete' AND method = 'clocks' AND transfer_ns IS NOT NULL
)
SELECT
    job,
    CASE WHEN class IN ('memcpy', 'memset') THEN 'copy' ELSE 'compute' END AS cause,
    CAST(rank AS VARCHAR) AS source,
    rank,
    CAST(NULL AS VARCHAR) AS group_name,
    CAST(NULL AS BIGINT) AS call_id,
    event_id, step, kind_key, like_key,
    dur_ns AS length_ns
FROM _job_activities
WHERE call_id IS NULL AND like_key IS NOT NULL
UNION ALL
SELECT
    job, 'transfer', coalesce(group_name, group_ranks), NULL, group_name, call_id, NULL, step,
    like_key, like_key AS same_key, transfer_ns
FROM exchanges
UNION ALL
SELECT
    job, cause, CAST(rank AS VARCHAR), rank, NULL, NULL, event_id, step, name, name AS same_key,
    dur_ns
FROM _job_marks
WHERE NOT is_unsure
UNION ALL
SELECT
    job, 'not_recorded', CAST(rank AS VARCHAR), rank, NULL, NULL, NULL, step, kind_key, like_key,
    length_ns
FROM (
    SELECT
        *,
        bool_or(is_recorded) OVER (PARTITION BY job, kind_key, like_key) AS has_recorded
    FROM _rank_stretches
)
WHERE has_recorded
