-- What job_what_if changes: kinds of work, the kernels and operators with the most device time,
-- what the setting what_if_name names, and the stragglers of straggler_ranks that were recorded and
-- are not weak, one by one and all together.
-- @scope store
WITH work AS (
    SELECT
        j.job, k.name,
        o.name AS op_name,
        k.dur_ns
    FROM kernels k
    JOIN job_ranks j ON j.trace_id = k.trace_id AND j.ranks > 1
    JOIN kernel_classes c ON c.trace_id = k.trace_id AND c.event_id = k.event_id
    LEFT JOIN events o ON o.trace_id = k.trace_id AND o.event_id = k.op_id
    WHERE k.kind = 'kernel' AND c.class <> 'communication' AND k.dur_ns > 0
),
sums AS (
    SELECT job, 'kernel' AS target_kind, name, sum(dur_ns) AS dur_ns
    FROM work
    GROUP BY job, name
    UNION ALL
    SELECT job, 'operator', op_name, sum(dur_ns)
    FROM work
    WHERE op_name IS NOT NULL
    GROUP BY job, op_name
),
ranked AS (
    SELECT
        job, target_kind, name,
        row_number() OVER (PARTITION BY job, target_kind ORDER BY dur_ns DESC, name) AS place
    FROM sums
),
jobs AS (SELECT DISTINCT job FROM job_ranks WHERE ranks > 1),
targets AS (
    SELECT
        job, target_kind, name,
        CAST(NULL AS BIGINT) AS rank,
        CAST(NULL AS VARCHAR) AS group_name
    FROM ranked
    WHERE place <= setting_int('what_if_top')
    UNION ALL
    SELECT
        job,
        unnest(make_array(
            'compute', 'communication', 'copy', 'launch', 'data_loading', 'hidden_communication',
            'cuda_graphs', 'all_stragglers'
        )),
        NULL, NULL, NULL
    FROM jobs
    UNION ALL
    SELECT job, 'named', setting_text('what_if_name'), NULL, NULL
    FROM jobs
    WHERE coalesce(setting_text('what_if_name'), '') <> ''
    UNION ALL
    SELECT job, 'straggler', cause, rank, group_name
    FROM straggler_ranks
    WHERE verdict <> 'weak' AND cause <> 'not_recorded'
)
SELECT
    job, target_kind, name, rank, group_name,
    CAST(
        row_number() OVER (
            PARTITION BY job
            ORDER BY target_kind, name NULLS FIRST, rank NULLS FIRST, group_name NULLS FIRST
        ) AS BIGINT
    ) AS target
FROM targets
