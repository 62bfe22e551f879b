-- The work of each target of _job_targets: ids of _job_path_activities. length_ns is what work of
-- stragglers that took clearly longer takes on the other ranks; NULL for work that takes the
-- factor. id and change are as in _what_if_work.
-- @scope store
WITH work AS (
    SELECT
        j.job, k.name,
        o.name AS op_name,
        j.rank * 1099511627776 + k.event_id AS id,
        CASE
            WHEN k.kind <> 'kernel' THEN 'copy'
            WHEN c.class = 'communication' THEN 'communication'
            ELSE 'compute'
        END AS target_kind
    FROM kernels k
    JOIN job_ranks j ON j.trace_id = k.trace_id AND j.ranks > 1
    JOIN kernel_classes c ON c.trace_id = k.trace_id AND c.event_id = k.event_id
    LEFT JOIN events o ON o.trace_id = k.trace_id AND o.event_id = k.op_id
    WHERE k.kind IN ('kernel', 'memcpy', 'memset')
),
long AS (
    SELECT
        l.job, l.cause, l.rank, l.group_name, l.call_id, l.event_id, l.like_key,
        u.base_ns AS length_ns
    FROM _job_lengths l
    JOIN _usual_lengths u ON u.job = l.job AND u.cause = l.cause AND u.like_key = l.like_key
    WHERE l.length_ns > u.limit_ns
),
-- Where ranks are few, a straggler moves the common median.
others AS (
    SELECT
        t.job, t.target, l.like_key,
        CAST(round(median(CAST(l.length_ns AS DOUBLE))) AS BIGINT) AS length_ns
    FROM _job_targets t
    JOIN _job_lengths l ON l.job = t.job AND l.cause = t.name
        AND (l.rank <> t.rank OR (l.cause = 'transfer' AND l.group_name <> t.group_name))
    WHERE t.target_kind = 'straggler' AND t.name <> 'host_late'
    GROUP BY t.job, t.target, l.like_key
),
healed AS (
    SELECT
        t.job, t.target, l.call_id, l.rank, l.event_id,
        least(l.length_ns, coalesce(o.length_ns, l.length_ns)) AS length_ns
    FROM _job_targets t
    JOIN long l ON l.job = t.job AND l.cause = t.name
        AND (l.rank = t.rank OR (l.cause = 'transfer' AND l.group_name = t.group_name))
    LEFT JOIN others o ON o.job = t.job AND o.target = t.target AND o.like_key = l.like_key
    WHERE t.target_kind = 'straggler'
),
healing AS (
    SELECT * FROM healed
    UNION
    SELECT a.job, a.target, h.call_id, h.rank, h.event_id, h.length_ns
    FROM _job_targets a
    JOIN healed h ON h.job = a.job
    WHERE a.target_kind = 'all_stragglers'
)
SELECT
    t.job, t.target, w.id,
    CAST(NULL AS BIGINT) AS length_ns,
    CAST(NULL AS BIGINT) AS change
FROM _job_targets t
JOIN work w ON w.job = t.job AND w.target_kind = t.target_kind
UNION ALL
SELECT t.job, t.target, w.id, NULL, 1
FROM _job_targets t
JOIN work w ON w.job = t.job AND w.target_kind = 'communication'
WHERE t.target_kind = 'hidden_communication'
UNION ALL
SELECT
    job, target,
    CAST(NULL AS BIGINT),
    CAST(NULL AS BIGINT),
    CASE WHEN target_kind = 'cuda_graphs' THEN 2 END
FROM _job_targets
WHERE target_kind IN ('launch', 'cuda_graphs')
UNION ALL
SELECT t.job, t.target, w.id, NULL, NULL
FROM _job_targets t
JOIN work w ON w.job = t.job AND w.name = t.name
WHERE t.target_kind IN ('kernel', 'named')
UNION ALL
SELECT t.job, t.target, w.id, NULL, NULL
FROM _job_targets t
JOIN work w ON w.job = t.job AND w.op_name = t.name AND w.target_kind = 'compute'
WHERE t.target_kind IN ('operator', 'named')
UNION ALL
SELECT t.job, t.target, m.rank * 1099511627776 + m.event_id, NULL, NULL
FROM _job_targets t
JOIN _job_marks m ON m.job = t.job AND m.cause = t.target_kind
WHERE t.target_kind = 'data_loading'
UNION ALL
SELECT job, target, rank * 1099511627776 + event_id, length_ns, NULL
FROM healing
WHERE call_id IS NULL
UNION ALL
SELECT h.job, h.target, m.rank * 1099511627776 + m.event_id, h.length_ns, NULL
FROM healing h
JOIN collective_members m ON m.job = h.job AND m.call_id = h.call_id
