-- Balance of each all_to_all with splits: which rank gets most, as the expert that most tokens are
-- routed to, and what that costs.
--
-- The exchange takes as long as the rank with most data needs. If all got the mean, it would take
-- about 1 / imbalance of that; the rest is lost_ns. Where the trace of a member is missing, or a
-- member does not record its splits, nothing is known (status, reason).
--
-- Example: SELECT call_id, hot_rank, imbalance, lost_ns FROM all_to_all_balance
--   ORDER BY lost_ns DESC LIMIT 5
-- Holds: mean_bytes <= max_bytes
--
-- @scope store
-- @column job VARCHAR text The job (job_ranks.job).
-- @column call_id BIGINT id The call (collective_calls.call_id).
-- @column step BIGINT id Step of the launch; NULL outside steps.
-- @column group_name VARCHAR text Name of the process group; NULL if not recorded.
-- @column members BIGINT count Ranks of the store that take part.
-- @column hot_rank BIGINT id The rank that gets most; the lowest of equal ones. NULL if not known,
--   as all that follows.
-- @column max_bytes BIGINT bytes What it gets.
-- @column mean_bytes DOUBLE bytes What a rank gets on average.
-- @column imbalance DOUBLE ratio max_bytes by mean_bytes; NULL if nothing is sent.
-- @column transfer_ns BIGINT ns The exchange; NULL if not known.
-- @column lost_ns BIGINT ns transfer_ns · (1 - 1 / imbalance), rounded; NULL if not known.
-- @column status VARCHAR text measured, members_missing, mismatch, single or no splits.
-- @column reason VARCHAR text Why the balance is not known; NULL if it is.
WITH received AS (
    SELECT
        job, call_id, dst_rank,
        count(*) AS senders,
        sum(size_bytes) AS size_bytes
    FROM all_to_all_matrix
    WHERE status = 'complete'
    GROUP BY job, call_id, dst_rank
),
measured AS (
    SELECT
        job, call_id,
        max(size_bytes) AS max_bytes,
        avg(CAST(size_bytes AS DOUBLE)) AS mean_bytes,
        first_value(dst_rank ORDER BY size_bytes DESC, dst_rank) AS hot_rank
    FROM received
    GROUP BY job, call_id
    HAVING count(size_bytes) = count(*) AND min(senders) = count(*)
),
-- Calls without any splits send the same to all.
split AS (
    SELECT DISTINCT m.job, m.call_id
    FROM collective_members m
    JOIN collectives c ON c.trace_id = m.trace_id AND c.event_id = m.event_id
    WHERE m.collective = 'all_to_all' AND c.in_split_size LIKE '[%,%]'
)
SELECT
    c.job, c.call_id, c.step, c.group_name, c.members, a.hot_rank, a.max_bytes, a.mean_bytes,
    a.max_bytes / nullif(a.mean_bytes, 0) AS imbalance,
    c.transfer_ns,
    CAST(
        round(c.transfer_ns * (1 - a.mean_bytes / nullif(CAST(a.max_bytes AS DOUBLE), 0))) AS BIGINT
    ) AS lost_ns,
    CASE
        WHEN a.job IS NOT NULL THEN 'measured'
        WHEN c.status = 'complete' THEN 'no splits'
        ELSE c.status
    END AS status,
    CASE
        WHEN a.job IS NOT NULL THEN NULL
        WHEN c.status = 'complete' THEN 'a member does not record all of its splits'
        ELSE coalesce(c.reason, 'the trace of a member is missing')
    END AS reason
FROM collective_calls c
JOIN split s ON s.job = c.job AND s.call_id = c.call_id
LEFT JOIN measured a ON a.job = c.job AND a.call_id = c.call_id
WHERE c.collective = 'all_to_all'
