-- Each rank in each step of a job: length, computation, waits, and time that others lose to it. The
-- data of a heat map of ranks by steps.
--
-- Ranks with the same kernels in a step have the same role, as stages of a pipeline differ by
-- design. excess_pct compares the computation of a rank with the median of its role in the step,
-- and z with the scatter of the role too.
--
-- Example: SELECT rank, step, computation_ns, wait_ns, excess_pct, lost_ns FROM rank_step_heat
--   ORDER BY lost_ns DESC LIMIT 5
-- Source: Iglewicz and Hoaglin, How to Detect and Handle Outliers, 1993 (z; beyond 3.5 is unusual).
-- Range: any excess_pct, z; a rank may compute for less time than the others.
--
-- @scope store
-- @column trace_id VARCHAR text The trace.
-- @column job VARCHAR text The job (job_ranks.job).
-- @column rank BIGINT id Rank of the trace.
-- @column host VARCHAR text Host of the rank; NULL if not recorded.
-- @column step BIGINT id The step.
-- @column step_ns BIGINT ns Length of the step on the host.
-- @column role VARCHAR text Number of the first rank that runs the same kernels in the step.
-- @column peers BIGINT count Ranks of the role in the step.
-- @column computation_ns BIGINT ns Time in which computation runs.
-- @column wait_ns BIGINT ns Sum of the waits for other ranks in collectives; NULL if not known.
-- @column excess_pct DOUBLE pct Computation above the median of the role, as percent of that; NULL
--   for a rank alone in its role.
-- @column z DOUBLE number Computation less the median of the role, in standard deviations of the
--   role, which are 1.4826 times the median deviation; NULL for fewer than three ranks of a role,
--   or if at least half of them compute for the same time.
-- @column lost_ns BIGINT ns Waits of all ranks that are due to this rank in the step
--   (straggler_steps).
-- @column cause VARCHAR text The cause that loses most; NULL if no time is lost to the rank.
WITH kernels_of_steps AS (
    SELECT
        c.trace_id, c.step, k.name,
        count(*) AS launches
    FROM kernel_classes c
    JOIN kernels k ON k.trace_id = c.trace_id AND k.event_id = c.event_id
    WHERE c.class NOT IN ('communication', 'memcpy', 'sync') AND c.step IS NOT NULL
    GROUP BY c.trace_id, c.step, k.name
),
roles AS (
    SELECT
        trace_id, step,
        string_agg(concat(name, ' ', CAST(launches AS VARCHAR)), ';' ORDER BY name) AS role_key
    FROM kernels_of_steps
    GROUP BY trace_id, step
),
computed AS (
    SELECT trace_id, step, interval_union_len(ts_ns, end_ns) AS computation_ns
    FROM kernel_classes
    WHERE class NOT IN ('communication', 'memcpy', 'sync') AND dur_ns > 0 AND step IS NOT NULL
    GROUP BY trace_id, step
),
waits AS (
    SELECT trace_id, step, sum(wait_ns) AS wait_ns
    FROM collective_members
    WHERE step IS NOT NULL
    GROUP BY trace_id, step
),
lost AS (
    SELECT
        job, rank, step,
        sum(lost_ns) AS lost_ns,
        first_value(cause ORDER BY lost_ns DESC, cause) AS cause
    FROM straggler_steps
    WHERE rank IS NOT NULL AND step IS NOT NULL
    GROUP BY job, rank, step
),
cells AS (
    SELECT
        s.trace_id, j.job, j.rank, j.host, s.step,
        s.dur_ns AS step_ns,
        c.computation_ns, w.wait_ns, l.lost_ns, l.cause, r.role_key
    FROM steps s
    JOIN job_ranks j ON j.trace_id = s.trace_id
    LEFT JOIN roles r ON r.trace_id = s.trace_id AND r.step = s.step
    LEFT JOIN computed c ON c.trace_id = s.trace_id AND c.step = s.step
    LEFT JOIN waits w ON w.trace_id = s.trace_id AND w.step = s.step
    LEFT JOIN lost l ON l.job = j.job AND l.rank = j.rank AND l.step = s.step
),
peers AS (
    SELECT
        job, step, role_key,
        count(*) AS peers,
        min(rank) AS first_rank,
        median(CAST(computation_ns AS DOUBLE)) AS usual_ns
    FROM cells
    WHERE role_key IS NOT NULL
    GROUP BY job, step, role_key
),
scatter AS (
    SELECT
        c.job, c.step, c.role_key,
        1.4826 * median(abs(CAST(c.computation_ns AS DOUBLE) - p.usual_ns)) AS deviation_ns
    FROM cells c
    JOIN peers p ON p.job = c.job AND p.step = c.step AND p.role_key = c.role_key
    WHERE p.peers > 2
    GROUP BY c.job, c.step, c.role_key
)
SELECT
    c.trace_id, c.job, c.rank, c.host, c.step, c.step_ns,
    CAST(p.first_rank AS VARCHAR) AS role,
    p.peers,
    coalesce(c.computation_ns, 0) AS computation_ns,
    c.wait_ns,
    CASE
        WHEN p.peers > 1
            THEN 100.0 * (c.computation_ns - p.usual_ns) / nullif(p.usual_ns, 0)
    END AS excess_pct,
    (c.computation_ns - p.usual_ns) / nullif(d.deviation_ns, 0) AS z,
    coalesce(c.lost_ns, 0) AS lost_ns,
    c.cause
FROM cells c
LEFT JOIN peers p ON p.job = c.job AND p.step = c.step AND p.role_key = c.role_key
LEFT JOIN scatter d ON d.job = c.job AND d.step = c.step AND d.role_key = c.role_key
