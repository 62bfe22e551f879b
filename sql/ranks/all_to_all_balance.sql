-- Balance of each all_to_all with splits: which rank gets most, as the expert that most tokens are
-- routed to, and what that costs.
--
-- The exchange takes as long as the rank with most data needs. If all got the mean, it would take
-- about 1 / imbalance of that; the rest is lost_ns. Only for calls whose traces are all in the
-- store.
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
-- @column members BIGINT count Ranks that take part.
-- @column hot_rank BIGINT id The rank that gets most; the lowest of equal ones.
-- @column max_bytes BIGINT bytes What it gets.
-- @column mean_bytes DOUBLE bytes What a rank gets on average.
-- @column imbalance DOUBLE ratio max_bytes by mean_bytes; NULL if nothing is sent.
-- @column transfer_ns BIGINT ns The exchange; NULL if not known.
-- @column lost_ns BIGINT ns transfer_ns · (1 - 1 / imbalance), rounded; NULL if not known.
WITH received AS (
    SELECT
        job, call_id, dst_rank,
        max(step) AS step,
        max(group_name) AS group_name,
        count(*) AS senders,
        sum(size_bytes) AS size_bytes
    FROM all_to_all_matrix
    GROUP BY job, call_id, dst_rank
),
calls AS (
    SELECT
        job, call_id,
        max(step) AS step,
        max(group_name) AS group_name,
        count(*) AS members,
        min(senders) AS senders,
        max(size_bytes) AS max_bytes,
        avg(CAST(size_bytes AS DOUBLE)) AS mean_bytes,
        first_value(dst_rank ORDER BY size_bytes DESC, dst_rank) AS hot_rank
    FROM received
    GROUP BY job, call_id
    HAVING count(size_bytes) = count(*)
)
SELECT
    a.job, a.call_id, a.step, a.group_name, a.members, a.hot_rank, a.max_bytes, a.mean_bytes,
    a.max_bytes / nullif(a.mean_bytes, 0) AS imbalance,
    c.transfer_ns,
    CAST(
        round(c.transfer_ns * (1 - a.mean_bytes / nullif(CAST(a.max_bytes AS DOUBLE), 0))) AS BIGINT
    ) AS lost_ns
FROM calls a
JOIN collective_calls c ON c.job = a.job AND c.call_id = a.call_id
WHERE c.status = 'complete' AND a.senders = a.members
