-- What a job hangs on: in each process group the first collective that has not completed on all
-- ranks, and whose fault that is.
--
-- The verdict is the first of these that holds:
-- - unclear: a rank of the group has no dump, a dump is damaged, a buffer has rolled over and no
--   longer says how far its rank got, or the ranks of the group are not recorded; reason says which
-- - mismatch: ranks call different collectives, or with other sizes or types
-- - not_scheduled: ranks have not called it, while others wait in it
-- - not_started: ranks have called it, but their device has not come to it, while others wait
-- - not_completed: all ranks are in it: the network, a device that failed, or a slow collective
--
-- culprits are the ranks with another call than most, those that have not scheduled it, or those
-- that have not started it. It is NULL where the dumps do not tell. A culprit that itself waits in
-- another group is only a link of a chain: is_root is true for groups whose culprits wait nowhere
-- else, and those are where to look. In a job that was stopped while it ran well, the last
-- collectives are pending too; look at waited_ns and timeout_ns.
--
-- Source: the first collective of a group that has not completed on all of its ranks.
-- Example: SELECT group_name, seq, name, verdict, culprits, site FROM flight_hangs WHERE is_root
--
-- @scope store
-- @column job VARCHAR text The job (flight_dumps.job).
-- @column group_name VARCHAR text Process group.
-- @column description VARCHAR text Its description; NULL if not recorded.
-- @column seq BIGINT id Number of the collective in the group.
-- @column name VARCHAR text Name; where ranks differ, that of most ranks.
-- @column verdict VARCHAR text mismatch, not_scheduled, not_started, not_completed or unclear.
-- @column culprits VARCHAR json Ranks that keep the others waiting; NULL if that is not clear.
-- @column is_root BOOLEAN flag Whether no culprit waits in another group.
-- @column reason VARCHAR text Why the verdict is unclear, or what differs; else NULL.
-- @column waiting_ranks VARCHAR json Ranks that wait in it, as far as dumps say.
-- @column absent_ranks VARCHAR json Ranks whose dump says that they have not scheduled it.
-- @column unknown_ranks VARCHAR json Ranks whose progress no dump shows.
-- @column members BIGINT count Ranks of the group; NULL if not known.
-- @column created_ns BIGINT ns Unix time at which the first rank scheduled it.
-- @column waited_ns BIGINT ns From then to the last thing that any dump of the job records.
-- @column timeout_ns BIGINT ns Timeout of the collective.
-- @column site VARCHAR text Where the first waiting rank scheduled it; NULL if stacks were not
--   recorded.
WITH first_open AS (
    SELECT job, group_name, ranks, min(seq) AS seq
    FROM flight_collectives
    WHERE state <> 'completed' AND concat(waiting_ranks, absent_ranks) <> '[][]'
    GROUP BY job, group_name, ranks
),
open AS (
    SELECT c.*, concat(c.group_name, ' ', c.ranks) AS key
    FROM flight_collectives c
    JOIN first_open f ON f.job = c.job AND f.group_name = c.group_name AND f.seq = c.seq
        AND f.ranks IS NOT DISTINCT FROM c.ranks
),
calls AS (
    SELECT
        o.job, o.key, c.rank, c.name, c.state, c.trace_id, c.event_id,
        array_has(string_to_array(btrim(o.waiting_ranks, '[]'), ', '), CAST(c.rank AS VARCHAR))
            AS is_waiting,
        concat_ws(' | ', c.name, c.sizes, c.dtypes) AS signature
    FROM open o
    JOIN _flight_members m ON m.job = o.job AND m.group_name = o.group_name
        AND m.ranks IS NOT DISTINCT FROM o.ranks
    JOIN _flight_calls c ON c.job = o.job AND c.group_name = o.group_name AND c.seq = o.seq
        AND c.rank = m.rank
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
            FILTER (WHERE c.is_waiting AND c.state = 'scheduled') AS late_ranks,
        first_value(c.trace_id ORDER BY c.rank) FILTER (WHERE c.is_waiting) AS trace_id,
        first_value(c.event_id ORDER BY c.rank) FILTER (WHERE c.is_waiting) AS event_id
    FROM calls c
    JOIN usual u ON u.job = c.job AND u.key = c.key
    GROUP BY c.job, c.key, u.name, u.is_majority
),
why AS (
    SELECT
        job, concat(group_name, ' ', ranks) AS key,
        nullif(concat_ws(
            '; ',
            CASE WHEN bool_or(NOT has_dump) THEN 'ranks without a dump' END,
            CASE WHEN bool_or(is_damaged) THEN 'a dump is damaged' END,
            CASE WHEN bool_or(is_rolled) THEN 'a buffer has rolled over' END,
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
            WHEN o.unknown_ranks <> '[]' OR o.members IS NULL THEN 'unclear'
            WHEN o.differs IS NOT NULL THEN 'mismatch'
            WHEN o.absent_ranks <> '[]' THEN 'not_scheduled'
            WHEN o.scheduled > 0 AND o.started + o.completed > 0 THEN 'not_started'
            WHEN o.scheduled > 0 AND o.started = 0 THEN 'not_started'
            ELSE 'not_completed'
        END AS verdict
    FROM open o
    LEFT JOIN sides s ON s.job = o.job AND s.key = o.key
    LEFT JOIN why w ON w.job = o.job AND w.key = o.key
),
blamed AS (
    SELECT
        *,
        CASE verdict
            WHEN 'mismatch' THEN CASE WHEN is_majority THEN concat('[', other_ranks, ']') END
            WHEN 'not_scheduled' THEN absent_ranks
            WHEN 'not_started' THEN
                CASE WHEN started + completed > 0 THEN concat('[', late_ranks, ']') END
        END AS culprits
    FROM judged
),
-- Culprits that wait in another group of the job.
chained AS (
    SELECT DISTINCT a.job, a.key
    FROM (
        SELECT
            job, key, unnest(string_to_array(btrim(culprits, '[]'), ', ')) AS culprit
        FROM blamed
        WHERE culprits IS NOT NULL AND culprits <> '[]'
    ) a
    JOIN (
        SELECT
            job, key, unnest(string_to_array(btrim(waiting_ranks, '[]'), ', ')) AS waiting
        FROM blamed
        WHERE waiting_ranks <> '[]'
    ) b ON b.job = a.job AND b.waiting = a.culprit AND b.key <> a.key
),
ends AS (SELECT job, max(end_ns) AS end_ns FROM _flight_jobs GROUP BY job)
SELECT
    b.job, b.group_name, b.description, b.seq,
    coalesce(b.usual_name, b.name) AS name,
    b.verdict, b.culprits,
    c.job IS NULL AS is_root,
    CASE b.verdict
        WHEN 'unclear' THEN b.why
        WHEN 'mismatch' THEN concat('ranks differ in ', b.differs)
    END AS reason,
    b.waiting_ranks, b.absent_ranks, b.unknown_ranks, b.members, b.created_ns,
    e.end_ns - b.created_ns AS waited_ns,
    p.timeout_ns, p.site
FROM blamed b
LEFT JOIN chained c ON c.job = b.job AND c.key = b.key
LEFT JOIN ends e ON e.job = b.job
LEFT JOIN flight_pending p ON p.trace_id = b.trace_id AND p.event_id = b.event_id
