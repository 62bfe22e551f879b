-- In each generation of a process group the first collective that ranks wait in, with the verdict
-- and the culprits of flight_hangs. key tells them apart in a job.
-- @scope store
WITH first_open AS (
    SELECT job, group_name, ranks, generation, min(seq) AS seq
    FROM flight_collectives
    WHERE state = 'pending'
    GROUP BY job, group_name, ranks, generation
),
open AS (
    SELECT
        c.*, concat(c.group_name, ' ', c.ranks) AS group_key,
        concat(c.group_name, ' ', c.ranks, ' ', c.generation) AS key
    FROM flight_collectives c
    JOIN first_open f ON f.job = c.job AND f.group_name = c.group_name AND f.seq = c.seq
        AND f.generation = c.generation AND f.ranks IS NOT DISTINCT FROM c.ranks
),
calls AS (
    SELECT
        o.job, o.key, c.rank, c.name, c.state, c.trace_id, c.event_id, m.has_starts,
        array_has(string_to_array(btrim(o.waiting_ranks, '[]'), ', '), CAST(c.rank AS VARCHAR))
            AS is_waiting,
        concat_ws(' | ', c.name, c.sizes, c.dtypes) AS signature
    FROM open o
    JOIN _flight_members m ON m.job = o.job AND m.group_name = o.group_name
        AND m.ranks IS NOT DISTINCT FROM o.ranks
    JOIN _flight_calls c ON c.job = o.job AND c.group_name = o.group_name AND c.seq = o.seq
        AND c.rank = m.rank AND c.generation + m.shift = o.generation
),
shared AS (
    SELECT job, key, signature, min(name) AS name, count(*) AS ranks
    FROM calls
    GROUP BY job, key, signature
),
usual AS (
    SELECT
        job, key,
        first_value(signature ORDER BY ranks DESC, signature) AS signature,
        first_value(name ORDER BY ranks DESC, signature) AS name,
        max(ranks) * 2 > sum(ranks) AS is_majority
    FROM shared
    GROUP BY job, key
),
sides AS (
    SELECT
        c.job, c.key, u.name, u.is_majority,
        string_agg(CAST(c.rank AS VARCHAR), ', ' ORDER BY c.rank)
            FILTER (WHERE c.signature <> u.signature) AS other_ranks,
        string_agg(CAST(c.rank AS VARCHAR), ', ' ORDER BY c.rank)
            FILTER (WHERE c.is_waiting AND c.state = 'scheduled' AND c.has_starts)
            AS late_ranks,
        first_value(c.trace_id ORDER BY c.rank) FILTER (WHERE c.is_waiting) AS trace_id,
        first_value(c.event_id ORDER BY c.rank) FILTER (WHERE c.is_waiting) AS event_id
    FROM calls c
    JOIN usual u ON u.job = c.job AND u.key = c.key
    GROUP BY c.job, c.key, u.name, u.is_majority
),
why AS (
    SELECT
        job, concat(group_name, ' ', ranks) AS group_key,
        bool_or(is_unsure) AS is_unsure,
        nullif(concat_ws(
            '; ',
            CASE WHEN bool_or(NOT has_dump) THEN 'ranks without a dump' END,
            CASE WHEN bool_or(is_damaged) THEN 'a dump is damaged' END,
            CASE WHEN bool_or(is_rolled) THEN 'a buffer has rolled over' END,
            CASE WHEN bool_or(is_unsure) THEN 'the numbers of the group start again' END,
            CASE WHEN bool_or(ranks IS NULL) THEN 'the ranks of the group are not recorded' END
        ), '') AS reason
    FROM _flight_members
    GROUP BY job, concat(group_name, ' ', ranks)
),
judged AS (
    SELECT
        o.*, s.name AS usual_name, s.trace_id, s.event_id, s.other_ranks, s.late_ranks,
        s.is_majority, w.reason AS why,
        CASE
            WHEN o.unknown_ranks <> '[]' OR o.members IS NULL OR w.is_unsure THEN 'unclear'
            WHEN o.differs IS NOT NULL THEN 'mismatch'
            WHEN o.absent_ranks <> '[]' THEN 'not_scheduled'
            WHEN s.late_ranks IS NOT NULL THEN 'not_started'
            ELSE 'not_completed'
        END AS verdict
    FROM open o
    LEFT JOIN sides s ON s.job = o.job AND s.key = o.key
    LEFT JOIN why w ON w.job = o.job AND w.group_key = o.group_key
)
SELECT
    *,
    CASE verdict
        WHEN 'unclear' THEN why
        WHEN 'mismatch' THEN concat('ranks differ in ', differs)
        WHEN 'not_completed' THEN CASE WHEN scheduled > 0 THEN 'starts are not recorded' END
    END AS reason,
    CASE verdict
        WHEN 'mismatch' THEN CASE WHEN is_majority THEN concat('[', other_ranks, ']') END
        WHEN 'not_scheduled' THEN absent_ranks
        WHEN 'not_started' THEN
            CASE WHEN started + completed > 0 THEN concat('[', late_ranks, ']') END
    END AS culprits
FROM judged
