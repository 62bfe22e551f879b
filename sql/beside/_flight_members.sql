-- What each rank of a process group has done, as far as the dumps of its job say.
--
-- A group is told by its name and its ranks, because ranks may number their groups on their own.
-- Collectives of a group run in the order of their numbers, so the last one that has completed
-- stands for all before it. A buffer has rolled over if its first records are gone.
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
-- The configuration of a group, with that of other ranks where a rank has records only.
configured AS (
    SELECT
        d.job, g.group_name,
        coalesce(g.ranks, first_value(g.ranks) OVER (
            PARTITION BY d.job, g.group_name ORDER BY g.ranks NULLS LAST
        )) AS ranks,
        g.description, d.trace_id, d.rank, g.last_enqueued_seq, g.last_completed_seq
    FROM flight_groups g
    JOIN dumps d ON d.trace_id = g.trace_id
    WHERE g.group_name IS NOT NULL
),
done AS (
    SELECT
        trace_id, group_name,
        max(collective_seq) AS last_seq, min(collective_seq) AS first_seq,
        max(collective_seq) FILTER (WHERE state = 'completed') AS done_seq
    FROM flight_records
    WHERE NOT is_p2p AND collective_seq IS NOT NULL
    GROUP BY trace_id, group_name
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
)
SELECT
    m.job, m.group_name, m.ranks, m.description, m.rank,
    d.trace_id,
    d.trace_id IS NOT NULL AS has_dump,
    b.is_rolled,
    h.trace_id IS NOT NULL AS is_damaged,
    f.first_seq,
    greatest(coalesce(f.last_seq, -1), coalesce(c.last_enqueued_seq, -1)) AS last_seq,
    greatest(coalesce(f.done_seq, -1), coalesce(c.last_completed_seq, -1)) AS done_seq,
    f.last_seq IS NOT NULL OR c.last_enqueued_seq IS NOT NULL OR b.is_rolled IS NOT TRUE
        AS is_known
FROM members m
LEFT JOIN dumps d ON d.job = m.job AND d.rank = m.rank
LEFT JOIN buffers b ON b.trace_id = d.trace_id
LEFT JOIN damaged h ON h.trace_id = d.trace_id
LEFT JOIN done f ON f.trace_id = d.trace_id AND f.group_name = m.group_name
LEFT JOIN configured c ON c.trace_id = d.trace_id AND c.group_name = m.group_name
    AND c.ranks IS NOT DISTINCT FROM m.ranks
