-- What a job hangs on: in each process group the first collective that has not completed on all
-- ranks, and whose fault that is.
--
-- The verdict is the first of these that holds:
-- - unclear: a rank of the group has no dump, a dump is damaged, a buffer has rolled over and no
--   longer says how far its rank got, the numbers of the group start again and its generations
--   cannot be told apart, or the ranks of the group are not recorded; reason says which
-- - mismatch: ranks call different collectives, or with other sizes or types
-- - not_scheduled: ranks have not called it, while others wait in it
-- - not_started: ranks have called it and record starts, but their device has not come to it
-- - not_completed: all ranks have called it: the network, a device that failed, or a slow
--   collective
--
-- culprits are the ranks with another call than most, those that have not scheduled it, or those
-- that have not started it. It is NULL where the dumps do not tell.
--
-- Ranks record when collectives start only if TORCH_NCCL_ENABLE_TIMING was set. A rank whose
-- collectives of the group have completed without a start does not record them. If none of its
-- collectives has started or completed, the other ranks of the group decide. Without starts, a
-- collective that all ranks have called is not_completed, and reason says so. A kernel before it
-- that does not end is then as likely as the network.
--
-- A culprit that itself waits in another group is only a link of a chain. is_root is true for
-- groups whose culprits wait nowhere else, and those are where to look. Groups can also wait for
-- each other in a circle, which is a deadlock. is_cycle and is_root are true for all groups of a
-- circle. A circle of more than 16 groups is not found.
--
-- A group that was destroyed and made again under the same name has several generations
-- (flight_collectives). Each generation in which a rank still waits has its own row.
--
-- In a job that was stopped while it ran well, the last collectives are pending too; look at
-- waited_ns and timeout_ns.
--
-- Sends and receives get no verdict; flight_pending has those that had not completed.
--
-- Source: the first collective of a group that has not completed on all of its ranks.
-- Example: SELECT group_name, seq, name, verdict, culprits, site FROM flight_hangs WHERE is_root
--
-- @scope store
-- @column job VARCHAR text The job (flight_dumps.job).
-- @column group_name VARCHAR text Process group.
-- @column description VARCHAR text Its description; NULL if not recorded.
-- @column generation BIGINT id Which group of this name it is: 1 for the first.
-- @column seq BIGINT id Number of the collective in the group.
-- @column name VARCHAR text Name; where ranks differ, that of most ranks.
-- @column verdict VARCHAR text mismatch, not_scheduled, not_started, not_completed or unclear.
-- @column culprits VARCHAR json Ranks that keep the others waiting; NULL if that is not clear.
-- @column is_root BOOLEAN flag Whether no culprit waits in another group, or the group is one of a
--   circle.
-- @column is_cycle BOOLEAN flag Whether its culprits wait, directly or through other groups, for
--   ranks that wait in it.
-- @column reason VARCHAR text Why the verdict is unclear, what differs, or that starts are not
--   recorded; else NULL.
-- @column waiting_ranks VARCHAR json Ranks that wait in it, as far as dumps say.
-- @column absent_ranks VARCHAR json Ranks whose dump says that they have not scheduled it.
-- @column unknown_ranks VARCHAR json Ranks whose progress no dump shows.
-- @column members BIGINT count Ranks of the group; NULL if not known.
-- @column created_ns BIGINT ns Unix time at which the first rank scheduled it.
-- @column waited_ns BIGINT ns From then to the last thing that any dump of the job records.
-- @column timeout_ns BIGINT ns Timeout of the collective.
-- @column site VARCHAR text Where the first waiting rank scheduled it; NULL if stacks were not
--   recorded.
-- A group waits for another if one of its culprits waits there. Each group also reaches itself.
WITH steps AS (
    SELECT a.job, a.key AS waiter, b.key AS cause
    FROM (
        SELECT
            job, key, unnest(string_to_array(btrim(culprits, '[]'), ', ')) AS culprit
        FROM _flight_blame
        WHERE culprits IS NOT NULL AND culprits <> '[]'
    ) a
    JOIN (
        SELECT
            job, key, unnest(string_to_array(btrim(waiting_ranks, '[]'), ', ')) AS waiting
        FROM _flight_blame
        WHERE waiting_ranks <> '[]'
    ) b ON b.job = a.job AND b.waiting = a.culprit
    UNION
    SELECT job, key AS waiter, key AS cause FROM _flight_blame
),
within_2 AS (
    SELECT DISTINCT a.job, a.waiter, b.cause
    FROM steps a
    JOIN steps b ON b.job = a.job AND b.waiter = a.cause
),
within_4 AS (
    SELECT DISTINCT a.job, a.waiter, b.cause
    FROM within_2 a
    JOIN within_2 b ON b.job = a.job AND b.waiter = a.cause
),
within_8 AS (
    SELECT DISTINCT a.job, a.waiter, b.cause
    FROM within_4 a
    JOIN within_4 b ON b.job = a.job AND b.waiter = a.cause
),
within_16 AS (
    SELECT DISTINCT a.job, a.waiter, b.cause
    FROM within_8 a
    JOIN within_8 b ON b.job = a.job AND b.waiter = a.cause
),
chains AS (
    SELECT
        a.job, a.waiter AS key,
        bool_and(a.cause = a.waiter) AS is_end,
        bool_or(b.job IS NOT NULL AND a.cause <> a.waiter) AS is_cycle
    FROM within_16 a
    LEFT JOIN within_16 b ON b.job = a.job AND b.waiter = a.cause AND b.cause = a.waiter
    GROUP BY a.job, a.waiter
),
ends AS (SELECT job, max(end_ns) AS end_ns FROM _flight_jobs GROUP BY job)
SELECT
    b.job, b.group_name, b.description, b.generation, b.seq,
    coalesce(b.usual_name, b.name) AS name,
    b.verdict, b.culprits, c.is_end OR c.is_cycle AS is_root, c.is_cycle, b.reason,
    b.waiting_ranks, b.absent_ranks, b.unknown_ranks, b.members, b.created_ns,
    e.end_ns - b.created_ns AS waited_ns,
    p.timeout_ns, p.site
FROM _flight_blame b
LEFT JOIN chains c ON c.job = b.job AND c.key = b.key
LEFT JOIN ends e ON e.job = b.job
LEFT JOIN flight_pending p ON p.trace_id = b.trace_id AND p.event_id = b.event_id
