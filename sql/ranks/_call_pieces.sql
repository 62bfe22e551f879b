-- What the last member of each call was doing while others waited for it: the chain of activities
-- that led to its start, on any rank, back to the time at which the members met before
-- (_call_floors). The pieces of a call have no holes. via_call_id is the call of an exchange.
-- length_ns is the length of the whole activity, base_ns the usual one, and limit_ns
-- the length above which it took clearly longer.
-- @scope store
WITH pieces AS (
    SELECT
        job, call_id,
        piece['kind'] AS kind,
        piece['id'] AS id,
        piece['start_ns'] AS start_ns,
        piece['end_ns'] AS end_ns
    FROM (
        SELECT job, call_id, unnest(chain) AS piece
        FROM (
            SELECT
                job, call_id,
                walk_back(id, start_job_ns, end_job_ns, from_id, hop_id, stop_ns) OVER (
                    PARTITION BY job
                ) AS chain
            FROM _job_walks
        )
        WHERE chain IS NOT NULL
    )
),
origins AS (
    SELECT
        p.job, p.call_id, p.id, p.start_ns, p.end_ns, a.trace_id, a.event_id, a.step,
        least(greatest(coalesce(a.launch_job_ns, p.end_ns), p.start_ns), p.end_ns) AS launch_ns,
        a.launch_job_ns IS NOT NULL AS has_launch
    FROM pieces p
    JOIN _job_walks a ON a.job = p.job AND a.id = p.id
    WHERE p.kind = 'origin'
),
stretches AS (
    SELECT trace_id, job, call_id, id, start_ns, launch_ns AS end_ns
    FROM origins
    WHERE launch_ns > start_ns AND has_launch
),
loaded AS (
    SELECT
        job, a_call_id AS call_id, a_id AS id, b_cause AS cause, b_name AS name,
        b_event_id AS event_id, b_step AS step, start_ns, end_ns,
        b_dur_ns AS length_ns,
        b_is_unsure AS is_unsure
    FROM interval_intersect(
        (SELECT * FROM stretches),
        (SELECT trace_id, event_id, name, step, cause, dur_ns, is_unsure, start_ns, end_ns
            FROM _job_marks),
        start => start_ns, end => end_ns, by => trace_id)
    JOIN (SELECT DISTINCT trace_id, job FROM origins) USING (trace_id)
),
other AS (
    SELECT trace_id, job, call_id, id, start_ns, end_ns
    FROM interval_subtract(
        (SELECT * FROM stretches),
        (SELECT trace_id, start_ns, end_ns FROM _job_marks),
        start => start_ns, end => end_ns, by => (trace_id))
),
found AS (
    SELECT
        p.job, p.call_id,
        CAST(NULL AS BIGINT) AS via_call_id,
        a.rank,
        CAST(NULL AS VARCHAR) AS group_name,
        a.step,
        CASE
            WHEN a.class IN ('memcpy', 'memset') THEN 'copy'
            WHEN a.class = 'not_recorded' THEN 'not_recorded'
            -- A collective that was not matched holds waits that nothing explains.
            WHEN a.class = 'communication' THEN 'unknown'
            ELSE 'compute'
        END AS cause,
        a.name, a.event_id, p.start_ns, p.end_ns,
        a.dur_ns AS length_ns,
        CASE WHEN a.call_id IS NULL THEN a.like_key END AS like_key
    FROM pieces p
    JOIN _job_walks a ON a.job = p.job AND a.id = p.id
    WHERE p.kind = 'work'
    UNION ALL
    SELECT
        p.job, p.call_id, a.call_id, a.rank, w.group_name, a.step, 'transfer', w.collective,
        a.event_id, p.start_ns, p.end_ns, w.transfer_ns, l.like_key
    FROM pieces p
    JOIN _job_walks a ON a.job = p.job AND a.id = p.id
    JOIN _call_waits w ON w.job = a.job AND w.call_id = a.call_id
    LEFT JOIN _job_lengths l ON l.job = w.job AND l.call_id = w.call_id AND l.cause = 'transfer'
    WHERE p.kind = 'transfer'
    UNION ALL
    SELECT
        p.job, p.call_id, NULL, a.rank, NULL, a.step, 'schedule', NULL, a.event_id, p.start_ns,
        p.end_ns, p.end_ns - p.start_ns, NULL
    FROM pieces p
    JOIN _job_walks a ON a.job = p.job AND a.id = p.id
    WHERE p.kind = 'lag'
    UNION ALL
    SELECT
        job, call_id, NULL, id / 1099511627776, NULL, step,
        CASE
            WHEN has_launch THEN 'launch'
            WHEN trace_id IS NULL THEN 'not_recorded'
            ELSE 'unknown'
        END,
        NULL, event_id,
        CASE WHEN has_launch THEN launch_ns ELSE start_ns END,
        end_ns, end_ns - launch_ns, NULL
    FROM origins
    WHERE end_ns > launch_ns OR NOT has_launch
    UNION ALL
    SELECT
        job, call_id, NULL, id / 1099511627776, NULL, step, cause, name, event_id, start_ns, end_ns,
        length_ns, CASE WHEN NOT is_unsure THEN name END AS like_key
    FROM loaded
    UNION ALL
    SELECT
        o.job, o.call_id, NULL, o.id / 1099511627776, NULL, a.step, 'host_late', NULL, a.event_id,
        o.start_ns, o.end_ns, o.end_ns - o.start_ns, NULL
    FROM other o
    JOIN _job_walks a ON a.job = o.job AND a.id = o.id
)
SELECT
    f.job, f.call_id, f.via_call_id, f.rank, f.group_name, f.step, f.cause, f.name, f.event_id,
    f.start_ns, f.end_ns, f.length_ns,
    coalesce(u.base_ns, f.length_ns) AS base_ns,
    coalesce(u.limit_ns, f.length_ns) AS limit_ns
FROM found f
LEFT JOIN _usual_lengths u ON u.job = f.job AND u.cause = f.cause AND u.like_key = f.like_key
