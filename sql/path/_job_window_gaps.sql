-- What is not known of the windows of a job (_job_path_windows), the gravest thing of each:
-- calls not matched, members missing, clock stepped (a clock stepped back during work, whose length
-- is lost), or ranks not connected. No row where all is known.
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
),
placed AS (
    SELECT g.job, n.window_id, g.status
    FROM gaps g
    JOIN named n ON n.job = g.job AND n.step = g.step
    UNION
    SELECT job, 0, status FROM gaps
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
            WHEN 'clock stepped' THEN 3
            ELSE 4
        END
    ) AS status,
    bool_or(status <> 'ranks not connected') AS lacks_times
FROM placed
GROUP BY job, window_id
