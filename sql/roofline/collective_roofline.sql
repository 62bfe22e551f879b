-- Collectives with their bus bandwidth as a share of what the link could move.
--
-- One row per rank, device, collective, group size and message size. The bandwidth of the link is
-- the setting link_gb_s, in 10^9 bytes per second in one direction; without it there are rates and
-- no shares. Durations of a rank include the wait for the others (rank_communication,
-- collective_calls), so the best call is nearest to what the link did. Communication is in no row
-- of the roofline of operators.
--
-- Source: nccl-tests, PERFORMANCE.md, for bus bandwidths; collectives.
-- Example: SELECT collective, size_bytes, calls, best_bus_bandwidth_gb_s, best_link_pct
--   FROM collective_roofline ORDER BY total_ns DESC LIMIT 5
-- Holds: bus_bandwidth_gb_s <= best_bus_bandwidth_gb_s * 1.000001
-- Holds: best_link_pct IS NOT NULL OR reason IS NOT NULL
-- Range: sum total_ns
--
-- @scope job
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not known.
-- @column device BIGINT id Device; NULL on the host.
-- @column collective VARCHAR text As in collectives.
-- @column group_size BIGINT count Ranks in the group; NULL if not known.
-- @column dtype VARCHAR text Type of the elements; NULL if not recorded.
-- @column size_bytes BIGINT bytes Size of the message, as nccl-tests counts it; NULL if not
--   recorded.
-- @column calls BIGINT count Number of calls.
-- @column total_ns BIGINT ns Sum of their durations, waiting for others included.
-- @column bus_bandwidth_gb_s DOUBLE GB/s Bus bandwidth of all calls: their bytes on the bus by
--   total_ns; NULL if not known.
-- @column best_bus_bandwidth_gb_s DOUBLE GB/s Bus bandwidth of the fastest call; NULL if not known.
-- @column link_gb_s DOUBLE GB/s Bandwidth of the link; NULL if the setting link_gb_s is 0.
-- @column link_pct DOUBLE pct bus_bandwidth_gb_s as percent of link_gb_s; NULL if not known.
-- @column best_link_pct DOUBLE pct best_bus_bandwidth_gb_s as percent of link_gb_s; NULL if not
--   known.
-- @column reason VARCHAR text Why there is no share; NULL if there is one.
WITH grouped AS (
    SELECT
        trace_id, rank, device, collective, group_size, dtype, size_bytes,
        count(*) AS calls,
        sum(dur_ns) AS total_ns,
        CASE
            WHEN count(bus_bandwidth_gb_s) = count(*)
                THEN sum(bus_bandwidth_gb_s * dur_ns) / nullif(sum(dur_ns), 0)
        END AS bus_bandwidth_gb_s,
        max(bus_bandwidth_gb_s) AS best_bus_bandwidth_gb_s,
        CASE WHEN setting('link_gb_s') > 0 THEN setting('link_gb_s') END AS link_gb_s
    FROM collectives
    WHERE dur_ns > 0
    GROUP BY trace_id, rank, device, collective, group_size, dtype, size_bytes
)
SELECT
    *,
    100.0 * bus_bandwidth_gb_s / link_gb_s AS link_pct,
    100.0 * best_bus_bandwidth_gb_s / link_gb_s AS best_link_pct,
    CASE
        WHEN best_bus_bandwidth_gb_s IS NULL
            THEN 'the size of the message or of the group is not recorded'
        WHEN link_gb_s IS NULL
            THEN 'the bandwidth of the link is not known: set link_gb_s'
    END AS reason
FROM grouped
