-- Pipelines: idle time of each stage in a step, against what the schedule makes unavoidable.
--
-- A rank is in the pipeline of its process group of kind pipeline (process_groups); its stage is
-- its place in the group. The span of a step goes from the first computation of any rank of the
-- pipeline in the step to the last one, on the clock of the job (rank_clocks). A stage is idle in
-- it before its first computation (warm-up), after its last one (cool-down), and between them
-- (steady). A schedule without interleaving leaves (p-1)/(m+p-1) of the span idle, with p stages
-- and m microbatches; m is the largest number of messages of a pair of ranks in the step. Where a
-- stage is not in the store, is not on the clock of the others or computes nothing in the step, the
-- span is not known, and nothing that depends on it (status, reason).
--
-- Source: Narayanan et al., Efficient Large-Scale Language Model Training on GPU Clusters Using
--   Megatron-LM, 2021.
-- Example: SELECT rank, stage, step, bubble_pct, ideal_pct, exposed_recv_ns FROM pipeline_bubbles
--   ORDER BY job, step, rank LIMIT 5
-- Holds: bubble_ns = warm_up_ns + steady_idle_ns + cool_down_ns
-- Holds: bubble_ns <= span_ns
-- Range: any excess_pct; a stage may be idle for less than the schedule expects.
--
-- @scope store
-- @column trace_id VARCHAR text The trace.
-- @column job VARCHAR text The job (job_ranks.job).
-- @column rank BIGINT id Rank of the trace.
-- @column group_ranks VARCHAR json Ranks of the pipeline.
-- @column stage BIGINT number Stage of the rank, from 0.
-- @column stages BIGINT count Stages of the pipeline.
-- @column step BIGINT id The step.
-- @column microbatches BIGINT count Messages between neighbours in one direction; NULL without any.
-- @column span_ns BIGINT ns From the first to the last computation of the pipeline in the step;
--   NULL if not known.
-- @column computation_ns BIGINT ns Time in which this rank computes; NULL if its clock stepped, or
--   if a kernel has no valid duration.
-- @column warm_up_ns BIGINT ns Time before its first computation; NULL if not known.
-- @column steady_idle_ns BIGINT ns Time without computation after it; NULL as computation_ns.
-- @column cool_down_ns BIGINT ns Time after its last computation; NULL if not known.
-- @column bubble_ns BIGINT ns The sum of the three; NULL if one of them is not known.
-- @column bubble_pct DOUBLE pct bubble_ns as percent of span_ns; NULL if that is 0.
-- @column ideal_pct DOUBLE pct What the schedule leaves idle, as percent; NULL if the number of
--   microbatches is not known.
-- @column excess_pct DOUBLE pct bubble_pct - ideal_pct.
-- @column exposed_recv_ns BIGINT ns Time in which the rank receives and does not compute; NULL if
--   its clock stepped.
-- @column stages_recorded BIGINT count Stages that compute in the step and are on one clock.
-- @column status VARCHAR text measured, partial, stages missing, not aligned, or clock
--   stepped.
-- @column reason VARCHAR text What is not known, and why; NULL if all is.
WITH stages AS (
    SELECT
        g.job, g.ranks AS group_ranks, g.size AS stages, j.trace_id, j.rank,
        CAST(
            array_position(string_to_array(btrim(g.ranks, '[]'), ', '), CAST(j.rank AS VARCHAR))
            AS BIGINT
        ) - 1 AS stage
    FROM (
        SELECT DISTINCT job, ranks, size FROM process_groups WHERE kind = 'pipeline' AND size > 1
    ) g
    JOIN job_ranks j ON j.job = g.job
        AND array_has(string_to_array(btrim(g.ranks, '[]'), ', '), CAST(j.rank AS VARCHAR))
),
messages AS (
    SELECT job, group_ranks, step, max(messages) AS microbatches
    FROM (
        -- Counted at one end, because the halves of a message that are not matched are two calls.
        SELECT
            c.job, c.group_ranks, m.step, c.src_rank, c.dst_rank, m.rank, count(*) AS messages
        FROM collective_calls c
        JOIN collective_members m ON m.job = c.job AND m.call_id = c.call_id
        WHERE c.collective = 'send_recv' AND c.src_rank IS NOT NULL AND c.dst_rank IS NOT NULL
        GROUP BY c.job, c.group_ranks, m.step, c.src_rank, c.dst_rank, m.rank
    )
    GROUP BY job, group_ranks, step
),
receives AS (
    SELECT m.trace_id, m.event_id
    FROM collective_members m
    JOIN collective_calls c ON c.job = m.job AND c.call_id = m.call_id
    WHERE c.collective = 'send_recv' AND c.dst_rank = m.rank
),
work AS (
    SELECT
        k.trace_id, k.step, k.ts_ns, k.end_ns,
        k.class <> 'communication' AS is_computation,
        k.class <> 'communication' OR r.event_id IS NOT NULL AS counts
    FROM kernel_classes k
    LEFT JOIN receives r ON r.trace_id = k.trace_id AND r.event_id = k.event_id
    WHERE k.class NOT IN ('memcpy', 'sync') AND k.dur_ns > 0 AND k.step IS NOT NULL
),
-- Steps in which the length of some computation is not known.
unmeasured AS (
    SELECT DISTINCT trace_id, step
    FROM kernel_classes
    WHERE class NOT IN ('communication', 'memcpy', 'sync') AND step IS NOT NULL
        AND coalesce(dur_ns, -1) < 0
),
sums AS (
    SELECT
        trace_id, step,
        interval_union_len(CASE WHEN is_computation THEN ts_ns END, end_ns) AS computation_ns,
        interval_union_len(CASE WHEN counts THEN ts_ns END, end_ns) AS both_ns,
        min(CASE WHEN is_computation THEN ts_ns END) AS first_ns,
        max(CASE WHEN is_computation THEN end_ns END) AS last_ns
    FROM work
    GROUP BY trace_id, step
),
-- A time of a trace on the clock of the job.
ends AS (
    SELECT trace_id, step, 0 AS is_last, first_ns AS at_ns FROM sums WHERE first_ns IS NOT NULL
    UNION ALL
    SELECT trace_id, step, 1, last_ns FROM sums WHERE last_ns IS NOT NULL
),
aligned AS (
    SELECT
        e.trace_id, e.step,
        max(c.reference_rank) AS reference_rank,
        bool_and(c.is_main) AS is_main,
        count(DISTINCT c.segment) = 1 AS is_even,
        max(CASE WHEN e.is_last = 0 THEN e.unix_ns - c.offset_ns - CAST(
            round(c.drift_ppm / 1e6 * (e.unix_ns - c.origin_unix_ns)) AS BIGINT
        ) END) AS first_job_ns,
        max(CASE WHEN e.is_last = 1 THEN e.unix_ns - c.offset_ns - CAST(
            round(c.drift_ppm / 1e6 * (e.unix_ns - c.origin_unix_ns)) AS BIGINT
        ) END) AS last_job_ns
    FROM (
        SELECT e.*, coalesce(t.base_time_ns, 0) + e.at_ns AS unix_ns
        FROM ends e
        JOIN traces t ON t.trace_id = e.trace_id
    ) e
    JOIN stages g ON g.trace_id = e.trace_id
    JOIN _rank_clocks c ON c.job = g.job AND c.rank = g.rank
        AND (c.from_unix_ns IS NULL OR e.unix_ns >= c.from_unix_ns)
        AND (c.to_unix_ns IS NULL OR e.unix_ns < c.to_unix_ns)
    GROUP BY e.trace_id, e.step
),
placed AS (
    SELECT
        s.trace_id, s.step, g.job, g.rank, g.group_ranks, g.stage, g.stages,
        a.reference_rank, a.first_job_ns, a.last_job_ns,
        coalesce(x.is_computation, false) AS has_stepped,
        u.trace_id IS NOT NULL AS is_unmeasured,
        -- The drift between two times of one stretch of a clock is less than its error.
        CASE WHEN NOT coalesce(x.is_computation, false) THEN
            CASE WHEN a.is_even THEN s.last_ns - s.first_ns ELSE a.last_job_ns - a.first_job_ns END
        END AS own_ns,
        CASE
            WHEN NOT coalesce(x.is_computation, false) AND u.trace_id IS NULL THEN s.computation_ns
        END AS computation_ns,
        CASE WHEN x.trace_id IS NULL AND u.trace_id IS NULL THEN s.both_ns END AS both_ns
    FROM sums s
    JOIN stages g ON g.trace_id = s.trace_id
    JOIN aligned a ON a.trace_id = s.trace_id AND a.step = s.step
    LEFT JOIN _stepped_steps x ON x.trace_id = s.trace_id AND x.step = s.step
    LEFT JOIN unmeasured u ON u.trace_id = s.trace_id AND u.step = s.step
    WHERE s.first_ns IS NOT NULL
),
spanned AS (
    SELECT
        *,
        min(first_job_ns) OVER step AS begin_ns,
        max(last_job_ns) OVER step AS end_ns,
        count(*) OVER step AS stages_recorded,
        count(DISTINCT reference_rank) OVER step = 1 AS has_clock
    FROM placed
    WINDOW step AS (PARTITION BY job, group_ranks, step)
),
idle AS (
    SELECT
        *,
        has_clock AND stages_recorded = stages AS is_known,
        end_ns - begin_ns AS whole_ns,
        first_job_ns - begin_ns AS before_ns,
        own_ns - computation_ns AS steady_idle_ns,
        end_ns - begin_ns - (first_job_ns - begin_ns) - own_ns AS after_ns
    FROM spanned
),
judged AS (
    SELECT
        *,
        CASE WHEN is_known THEN whole_ns END AS span_ns,
        CASE WHEN is_known THEN before_ns END AS warm_up_ns,
        CASE WHEN is_known THEN greatest(after_ns, 0) END AS cool_down_ns,
        CASE WHEN is_known AND NOT has_stepped
            THEN before_ns + steady_idle_ns + greatest(after_ns, 0)
        END AS bubble_ns
    FROM idle
)
SELECT
    i.trace_id, i.job, i.rank, i.group_ranks, i.stage, i.stages, i.step, m.microbatches, i.span_ns,
    i.computation_ns, i.warm_up_ns, i.steady_idle_ns,
    CASE WHEN NOT i.has_stepped THEN i.cool_down_ns END AS cool_down_ns,
    i.bubble_ns,
    100.0 * i.bubble_ns / nullif(i.span_ns, 0) AS bubble_pct,
    100.0 * (i.stages - 1) / (m.microbatches + i.stages - 1) AS ideal_pct,
    100.0 * i.bubble_ns / nullif(i.span_ns, 0)
        - 100.0 * (i.stages - 1) / (m.microbatches + i.stages - 1) AS excess_pct,
    i.both_ns - i.computation_ns AS exposed_recv_ns,
    CASE WHEN i.has_clock THEN i.stages_recorded ELSE 1 END AS stages_recorded,
    CASE
        WHEN i.stages_recorded < i.stages THEN 'stages missing'
        WHEN NOT i.has_clock THEN 'not aligned'
        WHEN i.has_stepped THEN 'clock stepped'
        WHEN i.is_unmeasured THEN 'partial'
        ELSE 'measured'
    END AS status,
    CASE
        WHEN i.stages_recorded < i.stages
            THEN concat(
                'the span is not known: ', i.stages - i.stages_recorded, ' of ', i.stages,
                ' stages show no computation in the step'
            )
        WHEN NOT i.has_clock
            THEN 'the span is not known: the clocks of the stages are not aligned'
        WHEN i.has_stepped
            THEN 'the clock of the rank stepped during work of the step'
        WHEN i.is_unmeasured THEN 'a kernel of the step has no duration, or a negative one'
    END AS reason
FROM judged i
LEFT JOIN messages m ON m.job = i.job AND m.group_ranks = i.group_ranks AND m.step = i.step
