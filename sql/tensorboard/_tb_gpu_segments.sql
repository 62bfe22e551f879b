-- As _gpu_segments, of the times, steps and buckets of torch-tb-profiler 0.4.3.
WITH ends AS (
    SELECT trace_id, min(start_us) AS start_us, last_value(end_us ORDER BY ordinal) AS end_us FROM _tb_steps GROUP BY trace_id
),
work AS (
    SELECT trace_id, device, start_us, end_us, CASE WHEN blocks_per_sm > 0 THEN blocks_per_sm END AS blocks
    FROM _tb_work
    WHERE kind = 'kernel' AND device IS NOT NULL
),
devices AS (SELECT DISTINCT trace_id, device FROM work),
points AS (
    SELECT trace_id, device, start_us AS at, 1 AS running, blocks, 1 AS d FROM work
    UNION ALL
    SELECT trace_id, device, end_us, -1, -blocks, -1 FROM work
    UNION ALL
    SELECT d.trace_id, d.device, unnest([e.start_us, e.end_us]), 0, NULL, 0 FROM devices d JOIN ends e ON e.trace_id = d.trace_id
    UNION ALL
    SELECT trace_id, device, CASE WHEN i = buckets THEN end_us ELSE start_us + i * bucket_us END, 0, NULL, 0
    FROM (
        SELECT d.trace_id, d.device, w.start_us, w.end_us, w.bucket_us, w.buckets, unnest(generate_series(0, w.buckets)) AS i
        FROM devices d
        JOIN _tb_profile_window w ON w.trace_id = d.trace_id
    )
),
instants AS (
    SELECT trace_id, device, at, sum(running) AS running, sum(blocks) AS blocks, coalesce(sum(d) FILTER (WHERE blocks IS NOT NULL), 0) AS has_blocks
    FROM points
    GROUP BY trace_id, device, at
),
segments AS (
    SELECT
        trace_id, device, at AS start_us,
        lead(at) OVER w AS end_us,
        sum(running) OVER w AS running,
        CASE WHEN sum(has_blocks) OVER w > 0 THEN greatest(0.0, least(1.0, sum(blocks) OVER w)) ELSE 0.0 END AS sm_level,
        sum(has_blocks) OVER w > 0 AS has_blocks
    FROM instants
    WINDOW w AS (PARTITION BY trace_id, device ORDER BY at)
)
SELECT
    g.trace_id, g.device, g.start_us, g.end_us, g.end_us - g.start_us AS len_us, g.running, g.sm_level, g.has_blocks,
    g.start_us >= e.start_us AND g.end_us <= e.end_us AS in_steps,
    CASE WHEN g.start_us >= w.start_us AND g.end_us <= w.end_us THEN least(CAST(floor((g.start_us - w.start_us) / w.bucket_us) AS BIGINT), w.buckets - 1) END AS bucket
FROM segments g
JOIN ends e ON e.trace_id = g.trace_id
JOIN _tb_profile_window w ON w.trace_id = g.trace_id
WHERE g.end_us > g.start_us
