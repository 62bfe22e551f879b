-- Collectives of a job by group and number, with the state of each on all ranks.
--
-- A collective that a rank has no record of counts as completed there if a later one of the group
-- has completed or the status of the group says so. differs names what is not the same on all
-- ranks that recorded it: name, sizes or dtypes. Sends and receives are in flight_pending.
--
-- Source: records of the same number belong together, as in torch.distributed.flight_recorder.
-- Example: SELECT group_name, seq, name, state, waiting_ranks, absent_ranks FROM flight_collectives
--   WHERE state <> 'completed' ORDER BY group_name, seq
--
-- @scope store
-- @column job VARCHAR text The job (flight_dumps.job).
-- @column group_name VARCHAR text Process group.
-- @column description VARCHAR text Its description; NULL if not recorded.
-- @column ranks VARCHAR json Ranks of the group; NULL if not recorded.
-- @column seq BIGINT id Number of the collective in the group.
-- @column name VARCHAR text Name; where ranks differ, that of the lowest rank.
-- @column members BIGINT count Ranks of the group; NULL if not known.
-- @column recorded BIGINT count Ranks with a record of it.
-- @column completed BIGINT count Ranks on which it has completed.
-- @column started BIGINT count Ranks on which it has started and not completed.
-- @column scheduled BIGINT count Ranks that have scheduled it, and on which it has not started.
-- @column state VARCHAR text completed on all members, pending on one at least, or unknown if dumps
--   are missing or do not say.
-- @column waiting_ranks VARCHAR json Ranks on which it is started or scheduled.
-- @column absent_ranks VARCHAR json Ranks whose dump says that they have not scheduled it.
-- @column unknown_ranks VARCHAR json Ranks without a dump, or whose buffer no longer holds it.
-- @column differs VARCHAR text What differs between ranks, joined by commas; NULL for nothing.
-- @column created_ns BIGINT ns Unix time at which the first rank scheduled it.
WITH seqs AS (
    SELECT DISTINCT m.job, m.group_name, m.ranks, m.description, c.seq
    FROM _flight_members m
    JOIN _flight_calls c ON c.job = m.job AND c.group_name = m.group_name AND c.rank = m.rank
),
states AS (
    SELECT
        s.job, s.group_name, s.ranks, s.description, s.seq, m.rank, c.name, c.sizes, c.dtypes,
        c.created_ns, c.rank AS recorded_rank,
        CASE
            WHEN NOT m.has_dump THEN 'no dump'
            WHEN c.state = 'completed' OR m.done_seq >= s.seq THEN 'completed'
            WHEN c.state IS NOT NULL THEN c.state
            WHEN m.is_damaged OR NOT m.is_known THEN 'unknown'
            WHEN m.last_seq < s.seq THEN 'absent'
            ELSE 'unknown'
        END AS state
    FROM seqs s
    JOIN _flight_members m ON m.job = s.job AND m.group_name = s.group_name
        AND m.ranks IS NOT DISTINCT FROM s.ranks
    LEFT JOIN _flight_calls c ON c.job = m.job AND c.group_name = m.group_name
        AND c.rank = m.rank AND c.seq = s.seq
),
grouped AS (
    SELECT
        job, group_name, ranks, description, seq,
        first_value(name ORDER BY recorded_rank NULLS LAST) AS name,
        CASE WHEN ranks IS NOT NULL THEN count(*) END AS members,
        count(recorded_rank) AS recorded,
        count(*) FILTER (WHERE state = 'completed') AS completed,
        count(*) FILTER (WHERE state = 'started') AS started,
        count(*) FILTER (WHERE state = 'scheduled') AS scheduled,
        count(*) FILTER (WHERE state IN ('no dump', 'unknown')) AS unknown,
        count(*) AS all_ranks,
        string_agg(CAST(rank AS VARCHAR), ', ' ORDER BY rank)
            FILTER (WHERE state NOT IN ('completed', 'absent', 'no dump', 'unknown')) AS waiting,
        string_agg(CAST(rank AS VARCHAR), ', ' ORDER BY rank) FILTER (WHERE state = 'absent')
            AS absent,
        string_agg(CAST(rank AS VARCHAR), ', ' ORDER BY rank)
            FILTER (WHERE state IN ('no dump', 'unknown')) AS unknown_ranks,
        count(DISTINCT name) > 1 AS names_differ,
        count(DISTINCT sizes) > 1 AS sizes_differ,
        count(DISTINCT dtypes) > 1 AS dtypes_differ,
        min(created_ns) AS created_ns
    FROM states
    GROUP BY job, group_name, ranks, description, seq
)
SELECT
    job, group_name, description, ranks, seq, name, members, recorded, completed, started,
    scheduled,
    CASE
        WHEN completed = all_ranks AND members IS NOT NULL THEN 'completed'
        WHEN completed + unknown < all_ranks THEN 'pending'
        ELSE 'unknown'
    END AS state,
    concat('[', waiting, ']') AS waiting_ranks,
    concat('[', absent, ']') AS absent_ranks,
    concat('[', unknown_ranks, ']') AS unknown_ranks,
    nullif(concat_ws(
        ', ', CASE WHEN names_differ THEN 'name' END, CASE WHEN sizes_differ THEN 'sizes' END,
        CASE WHEN dtypes_differ THEN 'dtypes' END
    ), '') AS differs,
    created_ns
FROM grouped
