-- Calls of collectives of a job, each with all ranks that take part: status, waits, exchange, last
-- rank and bandwidth.
--
-- Calls are matched by group and recorded number (seq), sends and receives by group, sender,
-- receiver and number on that pair (pair), and without recorded numbers by group, collective and
-- order (order; world if no groups are recorded). Ranks that began to record later are shifted
-- against the others (sequence_number). Status is complete; members_missing, where ranks of the
-- group have no row; mismatch, where members contradict each other or do not end together (reason);
-- or single, for a collective of one rank or one that could not be matched (reason).
--
-- With clocks, the exchange begins when the last member has begun (full_ns) and ends at the median
-- of the ends. Where members are missing, the exchange of complete calls alike tells whether a
-- missing rank came last: then full_ns is the end less that exchange. Where nothing tells, there
-- are no waits (reason). Bandwidths are those of nccl-tests with the exchange as the time, in 10^9
-- bytes per second.
--
-- Source: nccl-tests, PERFORMANCE.md; waiting as in the Performance Optimization Programme's
--   wait states.
-- Example: SELECT collective, status, members, transfer_ns, skew_start_ns, last_rank,
--   bus_bandwidth_gb_s FROM collective_calls ORDER BY job, call_id LIMIT 5
-- Holds: skew_start_ns <= full_ns - first_start_ns
-- Range: any first_start_ns, full_ns, end_ns; Unix time, not the clock of the trace.
-- Range: any best_bandwidth_pct; a call may be faster than the quantile.
--
-- @scope store
-- @column job VARCHAR text The job (job_ranks.job).
-- @column call_id BIGINT id Number of the call in the job, by time, from 1.
-- @column place VARCHAR text device or host.
-- @column collective VARCHAR text What was done.
-- @column group_name VARCHAR text Name of the process group; NULL if not recorded.
-- @column group_description VARCHAR text Its description; NULL if not recorded.
-- @column group_ranks VARCHAR json Ranks of the group; NULL if not known.
-- @column group_size BIGINT count Ranks in the group; NULL if not known.
-- @column number BIGINT number Number of the call: as recorded for seq, else counted from 1; NULL
--   if it was not matched.
-- @column src_rank BIGINT id Sender of send_recv; NULL for others, or if not known.
-- @column dst_rank BIGINT id Receiver of send_recv; NULL for others, or if not known.
-- @column is_coalesced BOOLEAN flag Whether several collectives are one call.
-- @column match_source VARCHAR text How the call was matched: seq, pair, order or world; NULL if it
--   was not.
-- @column status VARCHAR text complete, members_missing, mismatch or single.
-- @column reason VARCHAR text Why the call is a mismatch, was not matched, or has no waits; NULL if
--   none of these.
-- @column members BIGINT count Ranks of the store that take part.
-- @column member_ranks BIGINT[] list These ranks.
-- @column method VARCHAR text clocks or durations: where waits and exchange come from; NULL
--   without.
-- @column step BIGINT id Step of the launch; NULL outside steps.
-- @column dtype VARCHAR text Type of the elements; NULL if not recorded.
-- @column size_bytes BIGINT bytes Size of the message, as nccl-tests counts it; NULL if not
--   recorded.
-- @column first_start_ns BIGINT ns Unix time on the clock of the job at which the first member
--   began.
-- @column full_ns BIGINT ns The same for the last member; NULL if not known.
-- @column end_ns BIGINT ns Median of the ends; of a broadcast without its root.
-- @column skew_start_ns BIGINT ns Longest wait of a member; NULL if not known.
-- @column skew_end_ns BIGINT ns Latest less earliest end; NULL without clocks.
-- @column transfer_ns BIGINT ns The exchange; NULL if not known.
-- @column root_rank BIGINT id The root of a broadcast, which ends before the others; NULL if none
--   does.
-- @column last_rank BIGINT id The rank that came last; NULL if not known, if others are within the
--   error of the clocks, or if a missing rank came last.
-- @column last_candidates BIGINT count Ranks that came last within twice the error of the clocks;
--   NULL without clocks.
-- @column missing_was_last BOOLEAN flag Whether a missing rank came last; NULL if no rank is
--   missing, or if that is not known.
-- @column algorithm_bandwidth_gb_s DOUBLE GB/s size_bytes by transfer_ns; NULL if either is not
--   known.
-- @column bus_bandwidth_gb_s DOUBLE GB/s The same times the factor of the collective: 2(n-1)/n for
--   all_reduce, (n-1)/n for all_gather, reduce_scatter, all_to_all, gather and scatter, 1 for
--   others; NULL for barrier, or if not known.
-- @column best_bandwidth_pct DOUBLE pct bus_bandwidth_gb_s as percent of the 95 % quantile of that
--   of calls of the same collective, group description and number of hosts of at least 1 MiB; NULL
--   for smaller or latency-bound calls.
-- @column is_latency_bound BOOLEAN flag Whether the exchange takes less than twice the shortest one
--   of the collective and group size; NULL if it is not known.
WITH factors AS (
    SELECT
        *,
        CASE
            WHEN method = 'clocks' AND full_ns IS NOT NULL
                THEN greatest(full_ns - first_start_ns, 0)
            WHEN method = 'durations' THEN longest_ns - shortest_ns
        END AS skew_ns,
        CASE WHEN status IN ('complete', 'members_missing') THEN transfer_ns END AS exchange_ns,
        CASE
            WHEN collective = 'all_reduce' THEN 2.0 * (group_size - 1) / nullif(group_size, 0)
            WHEN collective IN ('all_gather', 'reduce_scatter', 'all_to_all', 'gather', 'scatter')
                THEN 1.0 * (group_size - 1) / nullif(group_size, 0)
            WHEN collective IN ('broadcast', 'reduce', 'send_recv') THEN 1.0
        END AS bus_factor
    FROM _call_waits
),
rated AS (
    SELECT
        *,
        CAST(size_bytes AS DOUBLE) / nullif(exchange_ns, 0) AS algorithm_bandwidth_gb_s,
        CAST(size_bytes AS DOUBLE) / nullif(exchange_ns, 0) * bus_factor AS bus_bandwidth_gb_s,
        exchange_ns < 2 * min(exchange_ns) OVER (PARTITION BY job, place, collective, group_size)
            AS is_latency_bound
    FROM factors
),
best AS (
    SELECT
        job, place, collective, coalesce(group_description, '') AS description, hosts,
        quantile(bus_bandwidth_gb_s, 0.95) AS best_gb_s
    FROM rated
    WHERE size_bytes >= 1048576
    GROUP BY job, place, collective, coalesce(group_description, ''), hosts
)
SELECT
    r.job, r.call_id, r.place, r.collective, r.group_name, r.group_description, r.group_ranks,
    r.group_size, r.number, r.src_rank, r.dst_rank, r.is_coalesced, r.match_source, r.status,
    CASE
        WHEN r.reason IS NULL AND r.status = 'members_missing' AND r.method = 'clocks'
            AND r.missing_was_last IS NULL
            THEN 'it is not known whether a missing rank came last'
        ELSE r.reason
    END AS reason,
    r.members, r.member_ranks, r.method, r.step, r.dtype, r.size_bytes, r.first_start_ns,
    r.full_ns,
    CASE WHEN r.method = 'clocks' THEN r.end_job_ns END AS end_ns,
    r.skew_ns AS skew_start_ns,
    CASE WHEN r.method = 'clocks' THEN r.last_end_ns - r.first_end_ns END AS skew_end_ns,
    r.exchange_ns AS transfer_ns,
    r.root_rank, r.last_rank,
    CASE WHEN r.method = 'clocks' THEN r.last_candidates END AS last_candidates,
    r.missing_was_last, r.algorithm_bandwidth_gb_s, r.bus_bandwidth_gb_s,
    CASE
        WHEN r.size_bytes >= 1048576 AND NOT r.is_latency_bound
            THEN 100.0 * r.bus_bandwidth_gb_s / nullif(b.best_gb_s, 0)
    END AS best_bandwidth_pct,
    r.is_latency_bound
FROM rated r
LEFT JOIN best b ON b.job = r.job AND b.place = r.place AND b.collective = r.collective
    AND b.description = coalesce(r.group_description, '') AND b.hosts = r.hosts
