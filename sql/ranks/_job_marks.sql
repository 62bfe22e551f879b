-- Loading of data and collection of garbage on the hosts of a job, on the clock of the job; of
-- several nested ones the outermost.
-- @scope store
WITH offsets AS (
    SELECT trace_id, job, rank, min(to_job_ns) AS to_job_ns
    FROM _job_activities
    GROUP BY trace_id, job, rank
)
SELECT
    o.job, o.rank, e.trace_id, e.event_id, e.name, e.step, e.dur_ns,
    CASE WHEN e.name LIKE 'enumerate(Data%' THEN 'data_loading' ELSE 'host_late' END AS cause,
    e.ts_ns + o.to_job_ns AS start_ns,
    e.end_ns + o.to_job_ns AS end_ns
FROM (
    SELECT
        *,
        nest_depth(ts_ns, end_ns) OVER (
            PARTITION BY trace_id, track_id ORDER BY ts_ns, end_ns DESC, event_id
        ) AS mark_depth
    FROM events
    WHERE dur_ns > 0
        AND (
            (name LIKE 'enumerate(DataLoader)#%' AND name LIKE '%.\_\_next\_\_' ESCAPE '\')
            OR name LIKE 'enumerate(DataPipe)#%'
            OR (cat = 'python_function' AND name LIKE 'gc.py(%')
        )
) e
JOIN offsets o ON o.trace_id = e.trace_id
WHERE e.mark_depth = 0
