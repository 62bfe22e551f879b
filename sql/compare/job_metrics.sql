-- Figures of the ranks of a job that a gate compares with a baseline, as in metrics: waits, time
-- lost to a rank or a link, idle time of pipelines.
--
-- They depend on all ranks of a job in the store, so they are apart from metrics. check judges
-- both. A rank has the figures of its own trace; what was not measured has no row, and jobs with
-- one rank in the store have none:
-- - collective_wait_share: waits for other ranks, of the time of the rank's collectives
-- - blamed_time_max, blamed_time_mean: what all ranks lose to this rank in a step
-- - link_time_lost_max, link_bandwidth_min: groups of the rank whose exchanges take longer
-- - pipeline_idle_share: idle time of the rank in the steps of its pipeline
--
-- Example: SELECT rank, metric, subject, value, unit FROM job_metrics
--   ORDER BY rank, metric, subject LIMIT 5
-- Holds: unit <> 'pct' OR value BETWEEN 0 AND 100.000001
--
-- @scope store
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace in the job.
-- @column metric VARCHAR text Name of the metric.
-- @column subject VARCHAR text Cause, group or collective; NULL for the whole trace.
-- @column value DOUBLE number Its value, in the unit of the column unit.
-- @column unit VARCHAR text Unit of the value.
-- @column better VARCHAR text lower, higher, or neutral where neither is better in itself.
WITH ranks AS (
    SELECT trace_id, job, rank FROM job_ranks WHERE ranks > 1
),
followed AS (
    SELECT DISTINCT job FROM collective_calls WHERE method = 'clocks' AND place = 'device'
),
step_counts AS (
    SELECT j.job, count(DISTINCT s.step) AS steps
    FROM steps s
    JOIN ranks j ON j.trace_id = s.trace_id
    GROUP BY j.job
),
blamed AS (
    SELECT job, rank, max(lost_ns) AS most_ns, sum(lost_ns) AS lost_ns
    FROM (
        SELECT job, rank, step, sum(lost_ns) AS lost_ns
        FROM straggler_steps
        WHERE rank IS NOT NULL AND step IS NOT NULL
        GROUP BY job, rank, step
    )
    GROUP BY job, rank
),
-- Groups of the rank whose exchanges take longer than those of groups alike.
links AS (
    SELECT DISTINCT m.trace_id, s.group_name, s.step, s.lost_ns
    FROM straggler_steps s
    JOIN collective_members m ON m.job = s.job AND m.group_name = s.group_name
    WHERE s.cause = 'transfer'
),
speeds AS (
    SELECT
        m.trace_id, c.collective, m.group_name, m.group_ranks,
        median(c.bus_bandwidth_gb_s) AS bandwidth_gb_s
    FROM collective_members m
    JOIN collective_calls c ON c.job = m.job AND c.call_id = m.call_id
    WHERE c.size_bytes >= 1048576 AND NOT c.is_latency_bound AND c.bus_bandwidth_gb_s > 0
    GROUP BY m.trace_id, c.collective, m.group_name, m.group_ranks
),
listed AS (
    SELECT
        trace_id,
        CAST(NULL AS VARCHAR) AS subject,
        'collective_wait_share' AS metric,
        100.0 * sum(wait_ns) / nullif(sum(communication_ns), 0) AS value
    FROM stragglers
    GROUP BY trace_id
    UNION ALL
    SELECT
        j.trace_id, NULL,
        unnest(make_array('blamed_time_max', 'blamed_time_mean')),
        unnest(make_array(
            CAST(coalesce(b.most_ns, 0) AS DOUBLE),
            CAST(coalesce(b.lost_ns, 0) AS DOUBLE) / n.steps
        ))
    FROM ranks j
    JOIN followed f ON f.job = j.job
    JOIN step_counts n ON n.job = j.job
    LEFT JOIN blamed b ON b.job = j.job AND b.rank = j.rank
    UNION ALL
    SELECT trace_id, group_name, 'link_time_lost_max', CAST(max(lost_ns) AS DOUBLE)
    FROM links
    GROUP BY trace_id, group_name
    UNION ALL
    SELECT trace_id, collective, 'link_bandwidth_min', min(bandwidth_gb_s)
    FROM speeds
    GROUP BY trace_id, collective
    UNION ALL
    SELECT
        trace_id, NULL, 'pipeline_idle_share',
        100.0 * sum(bubble_ns) / nullif(sum(span_ns), 0)
    FROM pipeline_bubbles
    WHERE bubble_ns IS NOT NULL
    GROUP BY trace_id
)
SELECT l.trace_id, j.rank, l.metric, l.subject, l.value, d.unit, d.better
FROM listed l
JOIN ranks j ON j.trace_id = l.trace_id
JOIN metric_definitions d ON d.metric = l.metric
WHERE l.value IS NOT NULL
