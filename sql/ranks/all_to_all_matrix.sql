-- What each rank sends to each other rank in an all_to_all with splits.
--
-- From the input splits of each member, as shares of what it puts in: splits may count elements,
-- rows or tokens. A rank whose trace is missing has no rows as a sender.
--
-- Example: SELECT call_id, src_rank, dst_rank, size_bytes FROM all_to_all_matrix
--   ORDER BY job, call_id, src_rank, dst_rank LIMIT 4
--
-- @scope store
-- @column job VARCHAR text The job (job_ranks.job).
-- @column call_id BIGINT id The call (collective_calls.call_id).
-- @column step BIGINT id Step of the launch; NULL outside steps.
-- @column group_name VARCHAR text Name of the process group; NULL if not recorded.
-- @column src_rank BIGINT id The sender.
-- @column dst_rank BIGINT id The receiver.
-- @column split BIGINT number The recorded split.
-- @column status VARCHAR text Status of the call (collective_calls.status): where members are
--   missing, the matrix lacks what they send.
-- @column size_bytes BIGINT bytes What the sender sends to the receiver; NULL if the size of its
--   input is not recorded.
WITH splits AS (
    SELECT
        m.job, m.call_id, m.step, m.group_name, m.status,
        m.rank AS src_rank,
        c.in_bytes,
        string_to_array(btrim(c.group_ranks, '[]'), ', ') AS ranks,
        try_cast(string_to_array(btrim(replace(c.in_split_size, ' ', ''), '[]'), ',') AS BIGINT[])
            AS splits
    FROM collective_members m
    JOIN collectives c ON c.trace_id = m.trace_id AND c.event_id = m.event_id
    WHERE m.collective = 'all_to_all' AND m.status <> 'mismatch'
        AND c.in_split_size NOT LIKE '%...%' AND c.group_ranks NOT LIKE '%...%'
),
parts AS (
    SELECT
        job, call_id, step, group_name, status, src_rank, in_bytes,
        unnest(ranks) AS dst_rank,
        unnest(splits) AS split
    FROM splits
    WHERE array_length(splits) = array_length(ranks)
)
SELECT
    job, call_id, step, group_name, src_rank, try_cast(dst_rank AS BIGINT) AS dst_rank, split,
    status,
    CAST(
        round(
            CAST(in_bytes AS DOUBLE) * split
            / nullif(sum(split) OVER (PARTITION BY job, call_id, src_rank), 0)
        ) AS BIGINT
    ) AS size_bytes
FROM parts
