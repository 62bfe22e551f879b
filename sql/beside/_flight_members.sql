-- What each rank of a process group has done, as far as the dumps of its job say.
--
-- A group is told by its name and its ranks, because ranks may number their groups on their own.
-- A buffer has rolled over if its first records are gone.
--
-- Generations (_flight_generations) are counted from the first one of each rank. If the group has
-- several, and a buffer of it has rolled over or has records out of order, those counts do not tell
-- which generations belong together. Then is_unsure is true, and the last generations of all ranks
-- are taken as one. shift is what to add to the rank's own count. The status is that of the last
-- generation.
--
-- has_starts says whether the rank records when collectives of the group start. It does so with
-- TORCH_NCCL_ENABLE_TIMING only, and then each record that has completed has started too. A rank on
-- which none has started or completed is taken to be like the other ranks of the group.
-- @scope store
WITH dumps AS (SELECT * FROM _flight_jobs WHERE is_used),
buffers AS (
    SELECT
        d.trace_id, min(r.record_id) > 0 AS is_rolled, count(r.event_id) AS records
    FROM dumps d
    LEFT JOIN flight_records r ON r.trace_id = d.trace_id
    GROUP BY d.trace_id
),
damaged AS (
    SELECT DISTINCT trace_id
    FROM ingest_issues
    WHERE code IN ('truncated_input', 'damaged_compression', 'bad_record')
),
-- The configuration of a group. Where a rank has records only, it is that of another generation,
-- or that of other ranks.
configured AS (
    SELECT
        d.job, g.group_name,
        coalesce(
            g.ranks,
            first_value(g.ranks) OVER (
                PARTITION BY d.trace_id, g.group_name ORDER BY g.ranks NULLS LAST
            ),
            first_value(g.ranks) OVER (
                PARTITION BY d.job, g.group_name ORDER BY g.ranks NULLS LAST
            )
        ) AS ranks,
        g.description, d.trace_id, d.rank, g.group_id, g.last_enqueued_seq, g.last_completed_seq
    FROM flight_groups g
    JOIN dumps d ON d.trace_id = g.trace_id
    WHERE g.group_name IS NOT NULL
),
counted AS (
    SELECT
        trace_id, group_name, max(generation) AS generations, bool_or(is_unsure) AS is_unsure,
        last_value(group_id ORDER BY event_id) AS group_id
    FROM _flight_generations
    GROUP BY trace_id, group_name
),
-- The status of the last generation; that of an earlier one says nothing about it.
statuses AS (
    SELECT
        c.trace_id, c.group_name, c.ranks,
        max(c.last_enqueued_seq) AS last_enqueued_seq,
        max(c.last_completed_seq) AS last_completed_seq
    FROM configured c
    LEFT JOIN counted n ON n.trace_id = c.trace_id AND n.group_name = c.group_name
    WHERE coalesce(c.group_id = n.group_id, true)
    GROUP BY c.trace_id, c.group_name, c.ranks
),
starts AS (
    SELECT
        d.job, r.trace_id, r.group_name,
        CASE
            WHEN bool_or(r.state = 'started' OR r.started_ns IS NOT NULL) THEN true
            WHEN bool_or(r.state = 'completed') THEN false
        END AS has_starts
    FROM flight_records r
    JOIN dumps d ON d.trace_id = r.trace_id
    GROUP BY d.job, r.trace_id, r.group_name
),
group_starts AS (
    SELECT job, group_name, bool_or(has_starts) AS has_starts
    FROM starts
    GROUP BY job, group_name
),
groups_of AS (
    SELECT job, group_name, ranks, max(description) AS description
    FROM configured
    GROUP BY job, group_name, ranks
),
members AS (
    SELECT
        job, group_name, ranks, description,
        try_cast(unnest(string_to_array(btrim(ranks, '[]'), ', ')) AS BIGINT) AS rank
    FROM groups_of
    WHERE ranks IS NOT NULL
    UNION ALL
    SELECT DISTINCT g.job, g.group_name, g.ranks, g.description, c.rank
    FROM groups_of g
    JOIN configured c ON c.job = g.job AND c.group_name = g.group_name AND c.ranks IS NULL
    WHERE g.ranks IS NULL
),
joined AS (
    SELECT
        m.job, m.group_name, m.ranks, m.description, m.rank, d.trace_id, b.is_rolled,
        h.trace_id IS NOT NULL AS is_damaged,
        n.generations IS NOT NULL OR s.last_enqueued_seq IS NOT NULL OR b.is_rolled IS NOT TRUE
            AS is_known,
        coalesce(n.generations, 1) AS generations,
        n.is_unsure IS TRUE AS is_unsure,
        coalesce(s.last_enqueued_seq, -1) AS last_enqueued_seq,
        coalesce(s.last_completed_seq, -1) AS last_completed_seq,
        coalesce(t.has_starts, g.has_starts, false) AS has_starts
    FROM members m
    LEFT JOIN dumps d ON d.job = m.job AND d.rank = m.rank
    LEFT JOIN buffers b ON b.trace_id = d.trace_id
    LEFT JOIN damaged h ON h.trace_id = d.trace_id
    LEFT JOIN counted n ON n.trace_id = d.trace_id AND n.group_name = m.group_name
    LEFT JOIN statuses s ON s.trace_id = d.trace_id AND s.group_name = m.group_name
        AND s.ranks IS NOT DISTINCT FROM m.ranks
    LEFT JOIN starts t ON t.trace_id = d.trace_id AND t.group_name = m.group_name
    LEFT JOIN group_starts g ON g.job = m.job AND g.group_name = m.group_name
),
compared AS (
    SELECT
        *,
        max(generations) OVER (PARTITION BY job, group_name, ranks) AS group_generations,
        bool_or(is_unsure OR is_rolled IS TRUE) OVER (PARTITION BY job, group_name, ranks)
            AS may_lack_some
    FROM joined
)
SELECT
    job, group_name, ranks, description, rank, trace_id,
    trace_id IS NOT NULL AS has_dump,
    is_rolled, is_damaged, is_known, has_starts,
    group_generations > 1 AND may_lack_some AS is_unsure,
    CASE WHEN group_generations > 1 AND may_lack_some THEN group_generations - generations
        ELSE 0 END AS shift,
    CASE WHEN group_generations > 1 AND may_lack_some THEN group_generations ELSE generations END
        AS last_generation,
    last_enqueued_seq, last_completed_seq
FROM compared
