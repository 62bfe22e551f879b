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
compared AS (
    SELECT
        *,
        count(*) OVER same_call AS members,
        count(DISTINCT rank) OVER same_call AS member_ranks,
        min(collective) OVER same_call = max(collective) OVER same_call AS has_one_kind,
        coalesce(min(dtype) OVER same_call = max(dtype) OVER same_call, true) AS has_one_dtype,
        collective NOT IN ('all_reduce', 'all_gather', 'reduce_scatter', 'broadcast', 'send_recv')
            OR coalesce(
                min(in_bytes) OVER same_call = max(in_bytes) OVER same_call
                    AND coalesce(
                        min(out_bytes) OVER same_call = max(out_bytes) OVER same_call, true
                    ),
                true
            ) AS has_one_size,
        bool_or(is_negative) OVER same_call AS has_negative,
        max(size_bytes) OVER same_call AS call_bytes
    FROM ranked
    WINDOW same_call AS (PARTITION BY job, call_no)
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
