-- Collectives of a job, call by call: how long each rank waited for the others, and how long the
-- exchange itself took.
--
-- Calls of the ranks are matched by collective, group and number of the call. A collective cannot
-- end before its last rank has begun, so the shortest duration of a call over the ranks is taken as
-- the time of the exchange (transfer_ns); what a rank needs beyond is waiting for others. No clocks
-- are compared. Calls are matched only where all ranks of the job that take part have as many calls
-- of the collective and group, as otherwise calls of different rounds would be compared; is_matched
-- says whether.
--
-- Source: the distributed view of torch-tb-profiler 0.4.3, whose rule for data transfer this is, on
--   kernels instead of marks.
-- Example: SELECT collective, call, rank, transfer_ns, wait_ns, is_last FROM collective_waits
--   ORDER BY collective, call, rank LIMIT 6
-- Holds: wait_ns = dur_ns - transfer_ns
--
-- @scope store
-- @column trace_id VARCHAR text The trace.
-- @column job VARCHAR text The job (job_ranks.job).
-- @column rank BIGINT id Rank of the trace.
-- @column step BIGINT id Step of the launch or mark; NULL outside steps.
-- @column event_id BIGINT id The collective (events.event_id).
-- @column place VARCHAR text device or host.
-- @column collective VARCHAR text What was done.
-- @column group_name VARCHAR text Name of the process group; NULL if not recorded.
-- @column group_ranks VARCHAR json Ranks of the group; NULL if not recorded.
-- @column call BIGINT number Number of the call among those of its collective and group, from 1.
-- @column is_matched BOOLEAN flag Whether the call was matched with those of other ranks.
-- @column matched_ranks BIGINT count Ranks that the call was compared over; NULL if it was not
--   matched.
-- @column size_bytes BIGINT bytes Size of the message; NULL if not recorded.
-- @column dur_ns BIGINT ns Duration on this rank.
-- @column transfer_ns BIGINT ns Shortest duration over the ranks; NULL if not matched.
-- @column wait_ns BIGINT ns dur_ns - transfer_ns; NULL if not matched.
-- @column is_last BOOLEAN flag Whether this rank came last, that is, waited least (the lowest rank
--   of equal ones); NULL if not matched.
-- @column transfer_bandwidth_gb_s DOUBLE GB/s size_bytes by transfer_ns; NULL if the size is not
--   known or the call not matched.
WITH counted AS (
    SELECT
        *,
        count(*) OVER (PARTITION BY trace_id, place, collective, group_name, group_ranks) AS calls
    FROM collectives
    WHERE job IS NOT NULL
),
compared AS (
    SELECT
        *,
        min(calls) OVER alike = max(calls) OVER alike AND count(*) OVER same_call > 1 AS is_matched,
        count(*) OVER same_call AS matched_ranks,
        min(dur_ns) OVER same_call AS shortest_ns,
        row_number() OVER (
            PARTITION BY job, place, collective, group_name, group_ranks, call ORDER BY dur_ns, rank
        ) AS place_from_last
    FROM counted
    WINDOW
        alike AS (PARTITION BY job, place, collective, group_name, group_ranks),
        same_call AS (PARTITION BY job, place, collective, group_name, group_ranks, call)
)
SELECT
    trace_id, job, rank, step, event_id, place, collective, group_name, group_ranks, call,
    is_matched,
    CASE WHEN is_matched THEN matched_ranks END AS matched_ranks,
    size_bytes, dur_ns,
    CASE WHEN is_matched THEN shortest_ns END AS transfer_ns,
    CASE WHEN is_matched THEN dur_ns - shortest_ns END AS wait_ns,
    CASE WHEN is_matched THEN place_from_last = 1 END AS is_last,
    CASE
        WHEN is_matched THEN CAST(size_bytes AS DOUBLE) / nullif(shortest_ns, 0)
    END AS transfer_bandwidth_gb_s
FROM compared
