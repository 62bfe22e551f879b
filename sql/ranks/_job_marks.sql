-- Loading of data and collection of garbage on the hosts of a job, on the clock of the job; of
-- several nested ones the outermost. is_unsure marks those whose length a step of the clock may
-- have changed.
-- @scope store
SELECT
    o.job, o.rank, e.trace_id, e.event_id, e.name, e.step, e.dur_ns,
    CASE WHEN e.name LIKE 'enumerate(Data%' THEN 'data_loading' ELSE 'host_late' END AS cause,
    e.end_ns - e.dur_ns - o.offset_ns
        - CAST(round(o.drift * (e.end_ns - o.origin_ns)) AS BIGINT) AS start_ns,
    e.end_ns - o.offset_ns - CAST(round(o.drift * (e.end_ns - o.origin_ns)) AS BIGINT) AS end_ns,
    u.trace_id IS NOT NULL AS is_unsure
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
JOIN _job_clock_pieces o ON o.trace_id = e.trace_id
    AND (o.from_ns IS NULL OR e.end_ns >= o.from_ns) AND (o.to_ns IS NULL OR e.end_ns < o.to_ns)
LEFT JOIN _clock_steps u ON u.trace_id = e.trace_id AND e.ts_ns < u.to_ns AND e.end_ns > u.from_ns
WHERE e.mark_depth = 0
