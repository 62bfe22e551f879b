-- Collectives of the ranks of a job with the number of their call in the job, and whether the
-- members of a call contradict each other. Calls that were not matched have one member.
--
-- is_sync marks members of calls that end at the same moment for all members.
-- @scope store
WITH keyed AS (
    SELECT
        *,
        CASE
            WHEN number IS NULL THEN concat('?', trace_id, '|', event_id)
            ELSE concat(list_key, '#', number)
        END AS call_key
    FROM _collective_entries
),
ranked AS (
    SELECT
        *,
        CAST(dense_rank() OVER (PARTITION BY job ORDER BY call_key) AS BIGINT) AS call_no
    FROM keyed
),
-- An aggregation and not windows: DataFusion takes each window over a whole partition for an order,
-- and tries all their combinations when it plans what reads them.
calls AS (
    SELECT
        job, call_no,
        count(*) AS members,
        count(DISTINCT rank) AS member_ranks,
        min(collective) = max(collective) AS has_one_kind,
        coalesce(min(dtype) = max(dtype), true) AS has_one_dtype,
        coalesce(
            min(in_bytes) = max(in_bytes) AND coalesce(min(out_bytes) = max(out_bytes), true),
            true
        ) AS has_one_size,
        bool_or(is_negative) AS has_negative,
        max(size_bytes) AS call_bytes
    FROM ranked
    GROUP BY job, call_no
),
compared AS (
    SELECT
        r.*, c.members, c.member_ranks, c.has_one_kind, c.has_one_dtype,
        r.collective NOT IN ('all_reduce', 'all_gather', 'reduce_scatter', 'broadcast', 'send_recv')
            OR c.has_one_size AS has_one_size,
        c.has_negative, c.call_bytes
    FROM ranked r
    JOIN calls c ON c.job = r.job AND c.call_no = r.call_no
)
SELECT
    *,
    CASE
        WHEN has_negative THEN 'a member has a negative duration'
        WHEN members = 1 THEN NULL
        WHEN member_ranks < members THEN 'a rank takes part twice'
        WHEN NOT has_one_kind THEN 'the ranks name different collectives'
        WHEN NOT has_one_dtype THEN 'the ranks name different types'
        WHEN NOT has_one_size THEN 'the ranks give different sizes'
    END AS mismatch,
    NOT has_negative AND members > 1 AND member_ranks = members AND has_one_kind AND has_one_dtype
        AND has_one_size AND collective IN (
            'all_reduce', 'all_gather', 'reduce_scatter', 'all_to_all', 'barrier', 'send_recv'
        )
        -- NCCL sends small messages without waiting for the receiver.
        AND (collective <> 'send_recv' OR coalesce(call_bytes, 65536) >= 65536) AS is_sync
FROM compared
