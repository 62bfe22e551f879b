-- Collectives of a job by group and number, with the state of each on all ranks.
--
-- A collective that a rank has no record of counts as completed there if a later one of the group
-- has completed or the status of the group says so. differs names what is not the same on all
-- ranks that recorded it: name, sizes or dtypes. Sends and receives are in flight_pending.
--
-- A group can be destroyed and made again under the same name, and then its numbers start again.
-- Each of these groups is a generation. A generation begins on a rank where the number of the group
-- (flight_records.group_id) changes, or where the number of the collective falls. A rank with
-- records of a later generation no longer waits in an earlier one. If a buffer has rolled over, or
-- records are out of order, dumps do not say which generations of the ranks belong together. Then
-- the last ones count as one, and a rank without a record of a collective is unknown.
--
-- Dumps show starts only if TORCH_NCCL_ENABLE_TIMING was set. Without it, a collective that has
-- started counts as scheduled.
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
-- @column generation BIGINT id Which group of this name it is: 1 for the first.
-- @column seq BIGINT id Number of the collective in the group.
-- @column name VARCHAR text Name; where ranks differ, that of the lowest rank.
-- @column members BIGINT count Ranks of the group; NULL if not known.
-- @column recorded BIGINT count Ranks with a record of it.
-- @column completed BIGINT count Ranks on which it has completed.
-- @column started BIGINT count Ranks on which it has started and not completed.
-- @column scheduled BIGINT count Ranks that have scheduled it, and on which no start is recorded.
-- @column state VARCHAR text completed on all members, pending on one at least, abandoned if all
--   ranks that have not completed it are in a later generation, or unknown if dumps are missing or
--   do not say.
-- @column waiting_ranks VARCHAR json Ranks on which it is started or scheduled.
-- @column absent_ranks VARCHAR json Ranks whose dump says that they have not scheduled it.
-- @column unknown_ranks VARCHAR json Ranks without a dump, or whose buffer no longer holds it.
-- @column differs VARCHAR text What differs between ranks, joined by commas; NULL for nothing.
-- @column created_ns BIGINT ns Unix time at which the first rank scheduled it.
WITH seqs AS (
    SELECT DISTINCT
        m.job, m.group_name, m.ranks, m.description, c.generation + m.shift AS generation, c.seq
    FROM _flight_members m
    JOIN _flight_calls c ON c.job = m.job AND c.group_name = m.group_name AND c.rank = m.rank
),
-- Collectives of a group run in the order of their numbers, so the last one that has completed
-- stands for all before it.
progress AS (
    SELECT
        job, group_name, rank, generation, max(seq) AS last_seq,
        max(seq) FILTER (WHERE state = 'completed') AS done_seq
    FROM _flight_calls
    GROUP BY job, group_name, rank, generation
),
reached AS (
    SELECT
        m.*, g.generation,
        greatest(
            coalesce(p.last_seq, -1),
            CASE WHEN g.generation = m.last_generation THEN m.last_enqueued_seq ELSE -1 END
        ) AS last_seq,
        greatest(
            coalesce(p.done_seq, -1),
            CASE WHEN g.generation = m.last_generation THEN m.last_completed_seq ELSE -1 END
        ) AS done_seq
    FROM _flight_members m
    JOIN (SELECT DISTINCT job, group_name, ranks, generation FROM seqs) g ON g.job = m.job
        AND g.group_name = m.group_name AND g.ranks IS NOT DISTINCT FROM m.ranks
    LEFT JOIN progress p ON p.job = m.job AND p.group_name = m.group_name AND p.rank = m.rank
        AND p.generation + m.shift = g.generation
),
states AS (
    SELECT
        s.job, s.group_name, s.ranks, s.description, s.generation, s.seq, m.rank, c.name, c.sizes,
        c.dtypes, c.created_ns, c.rank AS recorded_rank,
        m.last_generation > s.generation AS has_left,
        CASE
            WHEN NOT m.has_dump THEN 'no dump'
            WHEN m.is_unsure AND c.rank IS NULL THEN 'unknown'
            WHEN c.state = 'completed' OR m.done_seq >= s.seq THEN 'completed'
            WHEN c.state IS NOT NULL AND m.last_generation > s.generation THEN 'left'
            WHEN c.state IS NOT NULL THEN c.state
            WHEN m.is_damaged OR NOT m.is_known THEN 'unknown'
            WHEN m.last_seq < s.seq THEN 'absent'
            ELSE 'unknown'
        END AS state
    FROM seqs s
    JOIN reached m ON m.job = s.job AND m.group_name = s.group_name AND m.generation = s.generation
        AND m.ranks IS NOT DISTINCT FROM s.ranks
    LEFT JOIN _flight_calls c ON c.job = m.job AND c.group_name = m.group_name
        AND c.rank = m.rank AND c.seq = s.seq AND c.generation + m.shift = s.generation
),
grouped AS (
    SELECT
        job, group_name, ranks, description, generation, seq,
        first_value(name ORDER BY recorded_rank NULLS LAST) AS name,
        CASE WHEN ranks IS NOT NULL THEN count(*) END AS members,
        count(recorded_rank) AS recorded,
        count(*) FILTER (WHERE state = 'completed') AS completed,
        count(*) FILTER (WHERE state = 'started') AS started,
        count(*) FILTER (WHERE state = 'scheduled') AS scheduled,
        count(*) FILTER (WHERE state IN ('no dump', 'unknown')) AS unknown,
        count(*) FILTER (WHERE state = 'left' OR state = 'absent' AND has_left) AS gone,
        count(*) AS all_ranks,
        string_agg(CAST(rank AS VARCHAR), ', ' ORDER BY rank)
            FILTER (WHERE state NOT IN ('completed', 'left', 'absent', 'no dump', 'unknown'))
            AS waiting,
        string_agg(CAST(rank AS VARCHAR), ', ' ORDER BY rank) FILTER (WHERE state = 'absent')
            AS absent,
        string_agg(CAST(rank AS VARCHAR), ', ' ORDER BY rank)
            FILTER (WHERE state IN ('no dump', 'unknown')) AS unknown_ranks,
        count(DISTINCT name) > 1 AS names_differ,
        count(DISTINCT sizes) > 1 AS sizes_differ,
        count(DISTINCT dtypes) > 1 AS dtypes_differ,
        min(created_ns) AS created_ns
    FROM states
    GROUP BY job, group_name, ranks, description, generation, seq
)
SELECT
    job, group_name, description, ranks, generation, seq, name, members, recorded, completed,
    started, scheduled,
    CASE
        WHEN completed = all_ranks AND members IS NOT NULL THEN 'completed'
        WHEN gone > 0 AND completed + gone = all_ranks THEN 'abandoned'
        WHEN completed + unknown + gone < all_ranks THEN 'pending'
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
