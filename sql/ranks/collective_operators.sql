-- Collectives by name and rank: calls, sizes, latency and data transfer, as the plugin's table has
-- them, with bandwidth.
--
-- Latency is the time in which at least one call was under way, marks on the host included; data
-- transfer as in communication_wait, by the plugin's definition; collective_calls has the exchange
-- of matched calls. Sizes are those of the inputs' shapes (record_shapes=True). The bandwidth is
-- what the plugin's table lacks. Kernels launched outside of marks are named by what they do.
--
-- Source: the distributed view of torch-tb-profiler 0.4.3 (Communication Operations Stats), which
--   knows ten collectives only.
-- Example: SELECT rank, name, calls, size_bytes, latency_ns, transfer_ns FROM collective_operators
--   ORDER BY rank, name
-- Holds: transfer_ns <= latency_ns
--
-- @scope store
-- @column trace_id VARCHAR text The trace.
-- @column job VARCHAR text The job (job_ranks.job); NULL if the rank is not known.
-- @column rank BIGINT id Rank of the trace; NULL if not known.
-- @column name VARCHAR text Name of the collective.
-- @column calls BIGINT count Number of calls.
-- @column size_bytes BIGINT bytes Size of all inputs; NULL if no shapes were recorded.
-- @column mean_size_bytes DOUBLE bytes size_bytes by calls; NULL if no shapes were recorded.
-- @column latency_ns BIGINT ns Time in which at least one call was under way.
-- @column mean_latency_ns DOUBLE ns latency_ns by calls.
-- @column transfer_ns BIGINT ns The part that is data transfer; NULL if the ranks could not be
--   compared.
-- @column mean_transfer_ns DOUBLE ns transfer_ns by calls; NULL if the ranks could not be compared.
-- @column transfer_bandwidth_gb_s DOUBLE GB/s size_bytes by transfer_ns, 10^9 bytes per second;
--   NULL if either is not known.
WITH sized AS (
    SELECT
        r.*,
        CASE
            WHEN row_number() OVER (PARTITION BY r.trace_id, r.mark_id ORDER BY r.ts_ns) = 1
                THEN m.bytes
        END AS bytes
    FROM _collective_ranges r
    LEFT JOIN _collective_sizes m ON m.trace_id = r.trace_id AND m.event_id = r.mark_id
),
sums AS (
    SELECT
        trace_id, job, rank, name,
        count(DISTINCT mark_id) AS calls,
        sum(bytes) AS size_bytes,
        interval_union_len(ts_ns, end_ns) AS latency_ns,
        CASE
            WHEN count(transfer_start_ns) > 0 THEN interval_union_len(transfer_start_ns, end_ns)
        END AS transfer_ns
    FROM sized
    GROUP BY trace_id, job, rank, name
)
SELECT
    trace_id, job, rank, name, calls, size_bytes,
    CAST(size_bytes AS DOUBLE) / calls AS mean_size_bytes,
    latency_ns,
    CAST(latency_ns AS DOUBLE) / calls AS mean_latency_ns,
    transfer_ns,
    CAST(transfer_ns AS DOUBLE) / calls AS mean_transfer_ns,
    CAST(size_bytes AS DOUBLE) / nullif(transfer_ns, 0) AS transfer_bandwidth_gb_s
FROM sums
