-- Stretches of time on each device in which the same kernels run, cut at the ends of the steps and of the buckets of the profiled time.
--
-- bucket is NULL outside the profiled time. sm_level is the sum of blocks per multiprocessor of the kernels running, at most 1.
WITH ends AS (
    SELECT trace_id, min(start_ns) AS start_ns, max(end_ns) AS end_ns FROM _steps GROUP BY trace_id
),
work AS (
    SELECT trace_id, device, ts_ns, end_ns, CASE WHEN blocks_per_sm > 0 THEN blocks_per_sm END AS blocks
    FROM _device_work
    WHERE kind = 'kernel' AND device IS NOT NULL
),
devices AS (SELECT DISTINCT trace_id, device FROM work),
points AS (
    SELECT trace_id, device, ts_ns AS at, 1 AS running, blocks, 1 AS d FROM work
    UNION ALL
    SELECT trace_id, device, end_ns, -1, -blocks, -1 FROM work
    UNION ALL
    SELECT d.trace_id, d.device, unnest([e.start_ns, e.end_ns]), 0, NULL, 0 FROM devices d JOIN ends e ON e.trace_id = d.trace_id
    UNION ALL
    SELECT trace_id, device, CASE WHEN i = buckets THEN end_ns ELSE start_ns + i * bucket_ns END, 0, NULL, 0
    FROM (
        SELECT d.trace_id, d.device, w.start_ns, w.end_ns, w.bucket_ns, w.buckets, unnest(generate_series(0, w.buckets)) AS i
        FROM devices d
        JOIN _profile_window w ON w.trace_id = d.trace_id
    )
),
instants AS (
    SELECT trace_id, device, at, sum(running) AS running, sum(blocks) AS blocks, coalesce(sum(d) FILTER (WHERE blocks IS NOT NULL), 0) AS has_blocks
    FROM points
    GROUP BY trace_id, device, at
),
segments AS (
    SELECT
        trace_id, device, at AS start_ns,
        lead(at) OVER w AS end_ns,
        sum(running) OVER w AS running,
        CASE WHEN sum(has_blocks) OVER w > 0 THEN greatest(0.0, least(1.0, sum(blocks) OVER w)) ELSE 0.0 END AS sm_level,
        sum(has_blocks) OVER w > 0 AS has_blocks
    FROM instants
    WINDOW w AS (PARTITION BY trace_id, device ORDER BY at)
)
SELECT
    g.trace_id, g.device, g.start_ns, g.end_ns, g.end_ns - g.start_ns AS len_ns, g.running, g.sm_level, g.has_blocks,
    g.start_ns >= e.start_ns AND g.end_ns <= e.end_ns AS in_steps,
    CASE WHEN g.start_ns >= w.start_ns AND g.end_ns <= w.end_ns THEN least((g.start_ns - w.start_ns) / w.bucket_ns, w.buckets - 1) END AS bucket
FROM segments g
JOIN ends e ON e.trace_id = g.trace_id
JOIN _profile_window w ON w.trace_id = g.trace_id
WHERE g.end_ns > g.start_ns
