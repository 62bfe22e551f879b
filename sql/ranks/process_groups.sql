-- Process groups of a job: ranks, layout and what each is for.
--
-- Groups are those of pg_config and those that collectives name. kind is world, tensor, pipeline,
-- data, expert, context, sequence, embedding, model or mixed, from the description of the group
-- where it names one (kind_source description), else from its ranks (all ranks of the job: ranks),
-- else from its calls (use): sends and receives make a pipeline; all_to_all, experts;
-- reduce_scatter with all_gather or all_reduce of more than 16 MiB, data; several all_reduce or
-- all_gather a step on one host between neighbouring ranks, tensor. It is NULL where nothing
-- decides.
--
-- Example: SELECT group_name, description, ranks, kind, kind_source, calls FROM process_groups
--   ORDER BY job, group_name
--
-- @scope store
-- @column job VARCHAR text The job (job_ranks.job).
-- @column group_name VARCHAR text Name of the group; NULL for calls that record none.
-- @column description VARCHAR text Its description; NULL if not recorded.
-- @column ranks VARCHAR json Ranks of the group; NULL if not known.
-- @column size BIGINT count Number of ranks; NULL if not known.
-- @column stride BIGINT count Distance between neighbouring ranks; NULL if it is not the same for
--   all, or for a single rank.
-- @column hosts BIGINT count Hosts of those ranks that are in the store; NULL if not recorded.
-- @column kind VARCHAR text What the group is for; NULL if not known.
-- @column kind_source VARCHAR text description, ranks or use; NULL if kind is.
-- @column calls BIGINT count Calls of collectives in the group.
-- @column mesh VARCHAR text Layout of the job where the groups of each kind tile it in one way, the
--   fastest dimension first, for example tensor 2, data 2, pipeline 2; NULL if there is no such
--   layout.
WITH used AS (
    SELECT
        job, group_name, group_ranks,
        max(group_description) AS description,
        max(group_size) AS size,
        count(*) AS calls,
        count(*) FILTER (WHERE collective = 'send_recv') AS p2p,
        count(*) FILTER (WHERE collective = 'all_to_all') AS to_all,
        count(*) FILTER (WHERE collective = 'reduce_scatter') AS scatters,
        count(*) FILTER (WHERE collective = 'all_gather') AS gathers,
        count(*) FILTER (WHERE collective = 'all_reduce') AS reduces,
        count(*) FILTER (WHERE collective = 'all_reduce' AND size_bytes > 16777216)
            AS large_reduces,
        greatest(count(DISTINCT step), 1) AS steps
    FROM collective_calls
    WHERE group_name IS NOT NULL OR group_ranks IS NOT NULL
    GROUP BY job, group_name, group_ranks
),
configured AS (
    SELECT
        j.job, g.group_name,
        g.ranks AS group_ranks,
        max(g.description) AS description,
        max(g.size) AS size
    FROM _trace_groups g
    JOIN job_ranks j ON j.trace_id = g.trace_id
    GROUP BY j.job, g.group_name, g.ranks
),
every AS (
    SELECT
        coalesce(u.job, c.job) AS job,
        coalesce(u.group_name, c.group_name) AS group_name,
        coalesce(u.group_ranks, c.group_ranks) AS ranks,
        coalesce(u.description, c.description) AS description,
        coalesce(c.size, u.size) AS size,
        coalesce(u.calls, 0) AS calls,
        u.p2p, u.to_all, u.scatters, u.gathers, u.reduces, u.large_reduces, u.steps
    FROM configured c
    FULL JOIN used u ON u.job = c.job AND u.group_name = c.group_name
        AND coalesce(u.group_ranks, '') = coalesce(c.group_ranks, '')
),
members AS (
    SELECT
        e.job, e.ranks,
        min(e.rank) AS first_rank,
        max(e.rank) AS last_rank,
        count(*) AS members,
        count(DISTINCT j.host) AS hosts
    FROM (
        SELECT
            job, ranks,
        try_cast(unnest(string_to_array(btrim(ranks, '[]'), ', ')) AS BIGINT) AS rank
        FROM (SELECT DISTINCT job, ranks FROM every WHERE ranks NOT LIKE '%...%')
    ) e
    LEFT JOIN job_ranks j ON j.job = e.job AND j.rank = e.rank
    GROUP BY e.job, e.ranks
),
worlds AS (
    SELECT job, max(world_size) AS world_size FROM job_ranks GROUP BY job
),
laid AS (
    SELECT
        e.*, w.world_size,
        nullif(m.hosts, 0) AS hosts,
        CASE
            WHEN m.members > 1 AND (m.last_rank - m.first_rank) % nullif(m.members - 1, 0) = 0
                AND e.ranks = concat(
                    '[',
                    array_to_string(
                        range(
                            m.first_rank, m.last_rank + 1,
                            greatest((m.last_rank - m.first_rank) / nullif(m.members - 1, 0), 1)
                        ),
                        ', '
                    ),
                    ']'
                )
                THEN (m.last_rank - m.first_rank) / nullif(m.members - 1, 0)
        END AS stride,
        upper(coalesce(e.description, '')) AS words
    FROM every e
    JOIN worlds w ON w.job = e.job
    LEFT JOIN members m ON m.job = e.job AND m.ranks = e.ranks
),
described AS (
    SELECT
        *,
        CASE
            WHEN words LIKE '%\_AND\_%' ESCAPE '\' THEN 'mixed'
            WHEN words LIKE '%EMBEDDING%' THEN 'embedding'
            WHEN regexp_like(words, '(^|_)EXPERT_(TENSOR|MODEL_TENSOR)') THEN 'tensor'
            WHEN regexp_like(words, 'EXPERT_DATA|(^|[^A-Z])EDP([^A-Z]|$)') THEN 'data'
            WHEN regexp_like(words, 'EXPERT|(^|[^A-Z])(EP|MOE)([^A-Z]|$)') THEN 'expert'
            WHEN regexp_like(words, 'PIPELINE|(^|[^A-Z])PP([^A-Z]|$)') THEN 'pipeline'
            WHEN regexp_like(words, 'TENSOR|(^|[^A-Z])TP([^A-Z]|$)') THEN 'tensor'
            WHEN regexp_like(words, 'CONTEXT|(^|[^A-Z])CP([^A-Z]|$)') THEN 'context'
            WHEN regexp_like(words, 'SEQUENCE|(^|[^A-Z])SP([^A-Z]|$)') THEN 'sequence'
            WHEN regexp_like(words, 'DATA|FSDP|(^|[^A-Z])DP([^A-Z]|$)') THEN 'data'
            WHEN words LIKE '%MODEL\_PARALLEL%' ESCAPE '\' THEN 'model'
        END AS by_description,
        CASE WHEN size = world_size AND size > 1 THEN 'world' END AS by_ranks,
        CASE
            WHEN calls = 0 THEN NULL
            WHEN p2p >= 0.8 * calls THEN 'pipeline'
            WHEN to_all >= 0.3 * calls THEN 'expert'
            WHEN (scatters > 0 AND gathers > 0) OR large_reduces > 0 THEN 'data'
            WHEN reduces + gathers >= 4 * steps AND hosts = 1 AND stride = 1 THEN 'tensor'
        END AS by_use
    FROM laid
),
kinds AS (
    SELECT
        *,
        coalesce(by_description, CASE WHEN by_use = 'pipeline' THEN by_use END, by_ranks, by_use)
            AS kind,
        CASE
            WHEN by_description IS NOT NULL THEN 'description'
            WHEN by_use = 'pipeline' THEN 'use'
            WHEN by_ranks IS NOT NULL THEN 'ranks'
            WHEN by_use IS NOT NULL THEN 'use'
        END AS kind_source
    FROM described
),
-- Groups of a kind tile the job if all have one size and one stride, and each rank is in one.
dimensions AS (
    SELECT
        job, kind,
        max(size) AS size,
        max(stride) AS stride,
        max(world_size) AS world_size
    FROM (SELECT DISTINCT job, kind, ranks, size, stride, world_size FROM kinds WHERE size > 1)
    WHERE kind IN ('tensor', 'context', 'data', 'pipeline')
    GROUP BY job, kind
    HAVING count(DISTINCT size) = 1 AND count(DISTINCT stride) = 1 AND count(stride) = count(*)
        AND count(*) * max(size) <= max(world_size)
),
steps AS (
    SELECT
        *,
        coalesce(lag(stride * size) OVER (PARTITION BY job ORDER BY stride), 1) AS expected_stride,
        lead(stride) OVER (PARTITION BY job ORDER BY stride) AS next_stride
    FROM dimensions
),
meshes AS (
    SELECT
        job, string_agg(concat(kind, ' ', CAST(size AS VARCHAR)), ', ' ORDER BY stride) AS mesh
    FROM steps
    GROUP BY job
    HAVING bool_and(stride = expected_stride)
        AND max(CASE WHEN next_stride IS NULL THEN stride * size END) = max(world_size)
)
SELECT
    k.job, k.group_name, k.description, k.ranks, k.size, k.stride, k.hosts, k.kind, k.kind_source,
    k.calls, m.mesh
FROM kinds k
LEFT JOIN meshes m ON m.job = k.job
