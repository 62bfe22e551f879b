-- Collectives of the ranks of a job, with the number of the call that is the same for all ranks
-- that take part in it.
--
-- match_source is seq (group and recorded number), pair (group, sender, receiver and number on that
-- pair), order (group, collective and order of launches) or world (the same for a trace that lists
-- no groups, only of groups as large as the job, and only if all ranks of the job have as many).
-- Recorded numbers are used only where each rank has each number once, as they restart with the
-- communicator. For pair, order and world, ranks that recorded more or fewer calls are shifted
-- against each other by sequence_number. The number is NULL if the calls could not be matched;
-- unmatched_reason says why.
--
-- Launches are in the order of their time. In a trace whose clock steps back, so that launches with
-- higher correlation ids have earlier times, the order is that of these ids.
--
-- Calls with a negative duration (is_negative) keep their number; their end is taken to be their
-- start.
--
-- A list of ranks that one rank recorded only in part is that of the job's configuration, or of
-- another rank, which begins with the same ranks.
-- @scope store
WITH lists AS (
    SELECT j.job, g.group_name, g.ranks
    FROM _trace_groups g
    JOIN job_ranks j ON j.trace_id = g.trace_id
    WHERE g.ranks IS NOT NULL
    UNION
    SELECT job, group_name, group_ranks
    FROM collectives
    WHERE job IS NOT NULL AND group_ranks NOT LIKE '%...%'
),
completed AS (
    SELECT c.job, c.group_name, c.group_ranks, min(l.ranks) AS ranks
    FROM (
        SELECT DISTINCT job, group_name, group_ranks, group_size
        FROM collectives
        WHERE group_ranks LIKE '%...%'
    ) c
    JOIN lists l ON l.job = c.job
    WHERE coalesce(l.group_name = c.group_name, c.group_name IS NULL)
        AND starts_with(l.ranks, split_part(c.group_ranks, '...', 1))
        AND coalesce(CAST(json_length(l.ranks) AS BIGINT) = c.group_size, true)
    GROUP BY c.job, c.group_name, c.group_ranks
    HAVING count(DISTINCT l.ranks) = 1
),
calls AS (
    SELECT
        c.* EXCEPT (dur_ns, end_ns),
        greatest(c.dur_ns, 0) AS dur_ns,
        greatest(c.end_ns, c.ts_ns) AS end_ns,
        c.dur_ns < 0 AS is_negative,
        coalesce(w.ranks, c.group_ranks) AS rank_list,
        coalesce(t.base_time_ns, 0) + c.ts_ns AS start_unix_ns,
        coalesce(t.base_time_ns, 0) + greatest(c.end_ns, c.ts_ns) AS end_unix_ns,
        j.ranks AS job_ranks,
        j.world_size,
        t.host,
        k.correlation,
        c.collective = 'send_recv' AS is_pair,
        c.group_name IS NOT NULL OR c.group_ranks IS NOT NULL AS has_group
    FROM collectives c
    JOIN traces t ON t.trace_id = c.trace_id
    JOIN job_ranks j ON j.trace_id = c.trace_id
    LEFT JOIN completed w ON w.job = c.job AND w.group_ranks = c.group_ranks
        AND coalesce(w.group_name, '') = coalesce(c.group_name, '')
    LEFT JOIN kernels k ON k.trace_id = c.trace_id AND k.event_id = c.event_id
    WHERE c.dur_ns IS NOT NULL
),
-- The list of a thousand ranks has 4 KB, and the keys of each call would contain it.
long_lists AS (
    SELECT rank_list, row_number() OVER (ORDER BY rank_list) AS list_no
    FROM (SELECT DISTINCT rank_list FROM calls WHERE octet_length(rank_list) > 256)
),
turns AS (
    SELECT trace_id
    FROM (
        SELECT
            trace_id, launch_ns, correlation,
            lag(launch_ns) OVER (PARTITION BY trace_id ORDER BY correlation) AS before_ns
        FROM calls
        WHERE correlation > 0
    )
    GROUP BY trace_id
    -- Ids that start again from 0 have no order. Threads may get their ids a little late.
    HAVING min(launch_ns - before_ns) < -10000
        AND max(correlation) - min(correlation) < 2147483648
),
placed AS (
    SELECT
        c.*,
        CASE WHEN t.trace_id IS NULL THEN c.launch_ns ELSE c.correlation END AS launch_place,
        concat(
            c.place, '|', coalesce(c.group_name, ''), '|',
            CASE
                WHEN l.list_no IS NULL THEN coalesce(c.rank_list, '')
                ELSE CAST(l.list_no AS VARCHAR)
            END
        ) AS group_key
    FROM calls c
    LEFT JOIN turns t ON t.trace_id = c.trace_id
    LEFT JOIN long_lists l ON l.rank_list = c.rank_list
),
repeated AS (
    SELECT
        *,
        CASE
            WHEN seq IS NOT NULL
                THEN row_number() OVER (
                    PARTITION BY trace_id, group_key, is_pair, seq ORDER BY launch_place, event_id
                )
        END AS use
    FROM placed
),
judged AS (
    SELECT
        *,
        has_group AND NOT is_pair
            AND count(seq) OVER alike = count(*) OVER alike AND max(use) OVER alike = 1
            AS has_seq
    FROM repeated
    WINDOW alike AS (PARTITION BY job, group_key, is_pair)
),
listed AS (
    SELECT
        *,
        CASE
            WHEN has_seq THEN 'seq'
            WHEN is_pair THEN CASE WHEN src_rank <> dst_rank THEN 'pair' END
            WHEN has_group THEN 'order'
            WHEN group_size = coalesce(world_size, job_ranks) THEN 'world'
        END AS source,
        CASE
            WHEN has_seq THEN group_key
            WHEN is_pair THEN concat(group_key, '|', src_rank, '>', dst_rank)
            ELSE concat(group_key, '|', collective)
        END AS list_key
    FROM judged
),
counted AS (
    SELECT
        *,
        count(*) OVER (PARTITION BY trace_id, list_key) AS entries
    FROM listed
),
numbered AS (
    SELECT
        *,
        sequence_number(
            CASE WHEN source IN ('pair', 'order', 'world') THEN rank END, end_unix_ns
        ) OVER (
            PARTITION BY job, list_key ORDER BY rank, launch_place, ts_ns, event_id
        ) AS number,
        min(entries) OVER list = max(entries) OVER list
            AND count(DISTINCT rank) OVER list = job_ranks AS is_even
    FROM counted
    WINDOW list AS (PARTITION BY job, list_key)
)
SELECT
    trace_id, job, rank, host, step, event_id, place, collective, name, call, device, stream,
    group_name, group_description,
    rank_list AS group_ranks,
    group_size, seq, src_rank, dst_rank, is_coalesced,
    dtype, in_bytes, out_bytes, size_bytes, ts_ns, dur_ns, end_ns, is_negative, start_unix_ns,
    end_unix_ns,
    source AS match_source,
    list_key,
    CASE
        WHEN source = 'seq' THEN seq
        WHEN source = 'world' AND NOT is_even THEN NULL
        WHEN source IS NOT NULL THEN number
    END AS number,
    CASE
        WHEN source IS NULL AND is_pair THEN 'sender and receiver are not known'
        WHEN source IS NULL THEN 'the group is not known'
        WHEN source = 'world' AND NOT is_even
            THEN 'the group is not recorded, and not all ranks have as many calls'
        WHEN source <> 'seq' AND number IS NULL
            THEN 'ranks have different numbers of calls, and no shift of them is clear'
    END AS unmatched_reason
FROM numbered
