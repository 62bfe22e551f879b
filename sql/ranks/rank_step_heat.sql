-- Each rank in each step of a job: length, computation, waits, and time that others lose to it. The
-- data of a heat map of ranks by steps.
--
-- Ranks with the same kernels in a step have the same role, as stages of a pipeline differ by
-- design. excess_pct compares the computation of a rank with the median of its role in the step,
-- and z with the scatter of the role too. A number that could not be measured is NULL, never 0;
-- wait_ns is a sum over the calls that are measured, and status and reason say whether all are.
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
-- @column computation_ns BIGINT ns Time in which computation runs; NULL without device work in the
--   trace, if the clock of the rank stepped in the step, or if a kernel has no valid duration.
-- @column wait_ns BIGINT ns Sum of the waits for other ranks in collectives; NULL if none is known.
-- @column excess_pct DOUBLE pct Computation above the median of the role, as percent of that; NULL
--   for a rank alone in its role.
-- @column z DOUBLE number Computation less the median of the role, in standard deviations of the
--   role, which are 1.4826 times the median deviation; NULL for fewer than three ranks of a role,
--   or if at least half of them compute for the same time.
-- @column lost_ns BIGINT ns Waits of all ranks that are due to this rank in the step
--   (straggler_steps); NULL if no wait of the step could be followed back.
-- @column cause VARCHAR text The cause that loses most; NULL if no time is lost to the rank.
-- @column calls_recorded BIGINT count Collectives of the rank in the step.
-- @column calls_measured BIGINT count Those that are measured (collective_coverage).
-- @column status VARCHAR text measured, partial, not measured, no collectives, or clock stepped.
-- @column reason VARCHAR text The reason that most calls which are not measured have, or what is
--   not known; NULL if all is.
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
    SELECT
        trace_id, step,
        interval_union_len(CASE WHEN dur_ns > 0 THEN ts_ns END, end_ns) AS computation_ns,
        count(*) FILTER (WHERE coalesce(dur_ns, -1) < 0) AS unmeasured
    FROM kernel_classes
    WHERE class NOT IN ('communication', 'memcpy', 'sync') AND step IS NOT NULL
    GROUP BY trace_id, step
),
waits AS (
    SELECT trace_id, step, sum(wait_ns) AS wait_ns
    FROM collective_members
    WHERE step IS NOT NULL
    GROUP BY trace_id, step
),
covered AS (
    SELECT
        trace_id, step,
        sum(calls_recorded) AS calls_recorded,
        sum(calls_measured) AS calls_measured,
        first_value(
            reason ORDER BY reason IS NULL, calls_recorded - calls_measured DESC, reason
        ) AS reason
    FROM collective_coverage
    WHERE step IS NOT NULL
    GROUP BY trace_id, step
),
-- Waits of a step can be followed back where clocks show when all had begun.
followed AS (
    SELECT job, step, count(full_ns) AS calls
    FROM collective_calls
    WHERE step IS NOT NULL AND place = 'device'
    GROUP BY job, step
),
on_device AS (SELECT DISTINCT trace_id FROM kernel_classes WHERE dur_ns > 0),
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
        CASE
            WHEN x.trace_id IS NULL AND d.trace_id IS NOT NULL AND coalesce(c.unmeasured, 0) = 0
                THEN coalesce(c.computation_ns, 0)
        END AS computation_ns,
        w.wait_ns,
        CASE WHEN l.lost_ns IS NULL AND f.calls = 0 THEN NULL ELSE coalesce(l.lost_ns, 0) END
            AS lost_ns,
        l.cause,
        coalesce(v.calls_recorded, 0) AS calls_recorded,
        coalesce(v.calls_measured, 0) AS calls_measured,
        CASE
            WHEN x.trace_id IS NOT NULL THEN 'clock stepped'
            WHEN v.trace_id IS NULL THEN 'no collectives'
            WHEN v.calls_measured = v.calls_recorded AND coalesce(c.unmeasured, 0) = 0
                THEN 'measured'
            WHEN v.calls_measured > 0 THEN 'partial'
            ELSE 'not measured'
        END AS status,
        CASE
            WHEN x.trace_id IS NOT NULL THEN 'the clock of the rank stepped during work of the step'
            WHEN v.calls_measured = v.calls_recorded AND c.unmeasured > 0
                THEN 'a kernel of the step has no duration, or a negative one'
            ELSE v.reason
        END AS reason,
        r.role_key
    FROM steps s
    JOIN job_ranks j ON j.trace_id = s.trace_id
    LEFT JOIN roles r ON r.trace_id = s.trace_id AND r.step = s.step
    LEFT JOIN computed c ON c.trace_id = s.trace_id AND c.step = s.step
    LEFT JOIN waits w ON w.trace_id = s.trace_id AND w.step = s.step
    LEFT JOIN lost l ON l.job = j.job AND l.rank = j.rank AND l.step = s.step
    LEFT JOIN covered v ON v.trace_id = s.trace_id AND v.step = s.step
    LEFT JOIN followed f ON f.job = j.job AND f.step = s.step
    LEFT JOIN on_device d ON d.trace_id = s.trace_id
    LEFT JOIN _stepped_steps x
        ON x.trace_id = s.trace_id AND x.step = s.step AND x.is_computation
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
    c.computation_ns, c.wait_ns,
    CASE
        WHEN p.peers > 1
            THEN 100.0 * (c.computation_ns - p.usual_ns) / nullif(p.usual_ns, 0)
    END AS excess_pct,
    (c.computation_ns - p.usual_ns) / nullif(d.deviation_ns, 0) AS z,
    c.lost_ns, c.cause, c.calls_recorded, c.calls_measured, c.status, c.reason
FROM cells c
LEFT JOIN peers p ON p.job = c.job AND p.step = c.step AND p.role_key = c.role_key
LEFT JOIN scatter d ON d.job = c.job AND d.step = c.step AND d.role_key = c.role_key
