-- Messages between two ranks: send and receive of each pair, which side was late, and the exchange.
--
-- One row per call of send_recv whose sender and receiver are known; the i-th send of a pair of
-- ranks in a group belongs to its i-th receive. A side waits from its own start until the other one
-- has begun.
--
-- Example: SELECT src_rank, dst_rank, number, send_wait_ns, recv_wait_ns, transfer_ns, late_side
--   FROM p2p_transfers ORDER BY job, call_id LIMIT 5
-- Range: any send_start_ns, recv_start_ns; Unix time, not the clock of the trace.
--
-- @scope store
-- @column job VARCHAR text The job (job_ranks.job).
-- @column call_id BIGINT id The call (collective_calls.call_id).
-- @column group_name VARCHAR text Name of the process group; NULL if not recorded.
-- @column src_rank BIGINT id The sender.
-- @column dst_rank BIGINT id The receiver.
-- @column number BIGINT number Number of the message on this pair of ranks and group.
-- @column status VARCHAR text complete, members_missing, mismatch or single.
-- @column step BIGINT id Step of the launch; NULL outside steps.
-- @column size_bytes BIGINT bytes Size of the message; NULL if not recorded.
-- @column send_event_id BIGINT id The send (events.event_id); NULL if its trace is missing.
-- @column recv_event_id BIGINT id The receive (events.event_id); NULL if its trace is missing.
-- @column send_start_ns BIGINT ns Start of the send, Unix time on the clock of the job.
-- @column recv_start_ns BIGINT ns Start of the receive, Unix time on the clock of the job.
-- @column send_wait_ns BIGINT ns Time that the sender waits for the receiver; NULL if not known.
-- @column recv_wait_ns BIGINT ns Time that the receiver waits for the sender; NULL if not known.
-- @column transfer_ns BIGINT ns The exchange; NULL if not known.
-- @column transfer_bandwidth_gb_s DOUBLE GB/s size_bytes by transfer_ns; NULL if either is not
--   known.
-- @column late_side VARCHAR text sender or receiver; NULL if not known, or within the error of the
--   clocks.
-- @column reason VARCHAR text Why there are no waits, or what contradicts; NULL if they are known.
WITH sides AS (
    SELECT
        job, call_id,
        max(CASE WHEN is_sender THEN event_id END) AS send_event_id,
        max(CASE WHEN NOT is_sender THEN event_id END) AS recv_event_id,
        max(CASE WHEN is_sender THEN start_job_ns END) AS send_start_ns,
        max(CASE WHEN NOT is_sender THEN start_job_ns END) AS recv_start_ns,
        max(CASE WHEN is_sender THEN wait_ns END) AS send_wait_ns,
        max(CASE WHEN NOT is_sender THEN wait_ns END) AS recv_wait_ns,
        max(reason) AS reason
    FROM (
        SELECT m.*, m.rank = c.src_rank AS is_sender
        FROM collective_members m
        JOIN collective_calls c ON c.job = m.job AND c.call_id = m.call_id
        WHERE c.collective = 'send_recv' AND c.src_rank IS NOT NULL AND c.dst_rank IS NOT NULL
    )
    GROUP BY job, call_id
)
SELECT
    c.job, c.call_id, c.group_name, c.src_rank, c.dst_rank, c.number, c.status, c.step,
    c.size_bytes, s.send_event_id, s.recv_event_id, s.send_start_ns, s.recv_start_ns,
    s.send_wait_ns, s.recv_wait_ns, c.transfer_ns,
    CAST(c.size_bytes AS DOUBLE) / nullif(c.transfer_ns, 0) AS transfer_bandwidth_gb_s,
    CASE
        WHEN c.last_rank = c.src_rank OR (c.missing_was_last AND s.send_event_id IS NULL)
            THEN 'sender'
        WHEN c.last_rank = c.dst_rank OR (c.missing_was_last AND s.recv_event_id IS NULL)
            THEN 'receiver'
    END AS late_side,
    coalesce(c.reason, s.reason) AS reason
FROM collective_calls c
JOIN sides s ON s.job = c.job AND s.call_id = c.call_id
