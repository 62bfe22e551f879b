-- What is not known of the windows of a job (_job_path_windows), the gravest thing of each:
-- calls not matched, members missing, steps differ (the step lacks a rank, or the spans of two ranks
-- do not overlap: steps may be numbered differently), clock stepped (during work, whose length is
-- not known), lengths missing (device work has no duration, or a negative one), or ranks not
-- connected. No row where all is known.
--
-- lacks_times is whether times of the window depend on what is not known.
-- @scope store
WITH named AS (SELECT DISTINCT job, window_id, step FROM _job_path_windows),
gaps AS (
    SELECT
        job, step,
        CASE WHEN status = 'members_missing' THEN 'members missing' ELSE 'calls not matched' END
            AS status
    FROM collective_calls
    WHERE place = 'device'
        AND (
            status IN ('members_missing', 'mismatch')
            OR status = 'single' AND coalesce(group_size, 2) <> 1
        )
    UNION
    SELECT j.job, k.step, 'clock stepped'
    FROM _clock_sides v
    JOIN kernels k ON k.trace_id = v.trace_id AND k.event_id = v.event_id
    JOIN job_ranks j ON j.trace_id = v.trace_id
    WHERE k.dur_ns = 0 AND k.kind IN ('kernel', 'memcpy', 'memset')
    UNION
    SELECT j.job, x.step, 'clock stepped'
    FROM _stepped_steps x
    JOIN job_ranks j ON j.trace_id = x.trace_id
    WHERE x.is_computation
    UNION
    SELECT j.job, k.step, 'lengths missing'
    FROM kernels k
    JOIN job_ranks j ON j.trace_id = k.trace_id
    WHERE coalesce(k.dur_ns, -1) < 0 AND k.kind IN ('kernel', 'memcpy', 'memset')
),
spans AS (
    SELECT
        job, window_id, ranks < max(ranks) OVER (PARTITION BY job) OR last_from_ns >= first_to_ns
            AS differs
    FROM (
        SELECT
            job, window_id,
            count(DISTINCT domain) AS ranks,
            max(from_ns) AS last_from_ns,
            min(to_ns) AS first_to_ns
        FROM _job_path_windows
        WHERE window_id > 0
        GROUP BY job, window_id
    )
),
placed AS (
    SELECT g.job, n.window_id, g.status
    FROM gaps g
    JOIN named n ON n.job = g.job AND n.step = g.step
    UNION
    SELECT job, 0, status FROM gaps
    UNION
    SELECT job, window_id, 'steps differ' FROM spans WHERE differs
    UNION
    SELECT n.job, n.window_id, 'ranks not connected'
    FROM named n
    JOIN (
        SELECT job
        FROM _rank_clocks
        WHERE NOT is_main
        GROUP BY job
    ) c ON c.job = n.job
)
SELECT
    job, window_id,
    first_value(
        status ORDER BY CASE status
            WHEN 'calls not matched' THEN 1
            WHEN 'members missing' THEN 2
            WHEN 'steps differ' THEN 3
            WHEN 'clock stepped' THEN 4
            WHEN 'lengths missing' THEN 5
            ELSE 6
        END
    ) AS status,
    bool_or(status <> 'ranks not connected') AS lacks_times
FROM placed
GROUP BY job, window_id
