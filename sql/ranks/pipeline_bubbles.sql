-- Pipelines: idle time of each stage in a step, against what the schedule makes unavoidable.
--
-- A rank is in the pipeline of its process group of kind pipeline (process_groups); its stage is
-- its place in the group. The span of a step goes from the first computation of any rank of the
-- pipeline in the step to the last one, on the clock of the job (rank_clocks). A stage is idle in
-- it before its first computation (warm-up), after its last one (cool-down), and between them
-- (steady). A schedule without interleaving leaves (p-1)/(m+p-1) of the span idle, with p stages
-- and m microbatches; m is the largest number of messages of a pair of ranks in the step.
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
-- @column span_ns BIGINT ns From the first to the last computation of the pipeline in the step.
-- @column computation_ns BIGINT ns Time in which this rank computes.
-- @column warm_up_ns BIGINT ns Time before its first computation.
-- @column steady_idle_ns BIGINT ns Time without computation after it.
-- @column cool_down_ns BIGINT ns Time after its last computation.
-- @column bubble_ns BIGINT ns The sum of the three.
-- @column bubble_pct DOUBLE pct bubble_ns as percent of span_ns; NULL if that is 0.
-- @column ideal_pct DOUBLE pct What the schedule leaves idle, as percent; NULL if the number of
--   microbatches is not known.
-- @column excess_pct DOUBLE pct bubble_pct - ideal_pct.
-- @column exposed_recv_ns BIGINT ns Time in which the rank receives and does not compute.
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
        SELECT job, group_ranks, step, src_rank, dst_rank, count(*) AS messages
        FROM collective_calls
        WHERE collective = 'send_recv' AND src_rank IS NOT NULL AND dst_rank IS NOT NULL
        GROUP BY job, group_ranks, step, src_rank, dst_rank
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
placed AS (
    SELECT
        s.trace_id, s.step, s.computation_ns, s.both_ns, g.job, g.rank, g.group_ranks, g.stage,
        g.stages, c.reference_rank,
        s.last_ns - s.first_ns AS own_ns,
        coalesce(t.base_time_ns, 0) + s.first_ns - c.offset_ns
            - CAST(
                round(
                    c.drift_ppm / 1e6
                    * (coalesce(t.base_time_ns, 0) + s.first_ns - c.origin_unix_ns)
                ) AS BIGINT
            ) AS first_job_ns
    FROM sums s
    JOIN stages g ON g.trace_id = s.trace_id
    JOIN traces t ON t.trace_id = s.trace_id
    JOIN _rank_clocks c ON c.job = g.job AND c.rank = g.rank
        AND (
            c.from_unix_ns IS NULL OR coalesce(t.base_time_ns, 0) + s.first_ns >= c.from_unix_ns
        )
        AND (c.to_unix_ns IS NULL OR coalesce(t.base_time_ns, 0) + s.first_ns < c.to_unix_ns)
    WHERE s.first_ns IS NOT NULL
),
spanned AS (
    SELECT
        *,
        min(first_job_ns) OVER step AS begin_ns,
        max(first_job_ns + own_ns) OVER step AS end_ns,
        count(DISTINCT reference_rank) OVER step = 1 AS has_clock
    FROM placed
    WINDOW step AS (PARTITION BY job, group_ranks, step)
),
idle AS (
    SELECT
        *,
        end_ns - begin_ns AS span_ns,
        first_job_ns - begin_ns AS warm_up_ns,
        own_ns - computation_ns AS steady_idle_ns,
        end_ns - first_job_ns - own_ns AS cool_down_ns,
        end_ns - begin_ns - computation_ns AS bubble_ns
    FROM spanned
    WHERE has_clock
)
SELECT
    i.trace_id, i.job, i.rank, i.group_ranks, i.stage, i.stages, i.step, m.microbatches, i.span_ns,
    i.computation_ns, i.warm_up_ns, i.steady_idle_ns, i.cool_down_ns, i.bubble_ns,
    100.0 * i.bubble_ns / nullif(i.span_ns, 0) AS bubble_pct,
    100.0 * (i.stages - 1) / (m.microbatches + i.stages - 1) AS ideal_pct,
    100.0 * i.bubble_ns / nullif(i.span_ns, 0)
        - 100.0 * (i.stages - 1) / (m.microbatches + i.stages - 1) AS excess_pct,
    i.both_ns - i.computation_ns AS exposed_recv_ns
FROM idle i
LEFT JOIN messages m ON m.job = i.job AND m.group_ranks = i.group_ranks AND m.step = i.step
