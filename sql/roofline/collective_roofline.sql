-- Bus bandwidth of collectives against the bandwidth of the link.
--
-- One row per collective, group, size and device: its bus bandwidth, and that as percent of the
-- link. The bandwidth of a link is not in traces, and a name of a device does not tell it: the
-- setting link_gb_s gives it, in GB/s that one rank can send (nccl-tests compares its bus bandwidth
-- with the same figure). Without the setting the shares are NULL. Durations include the time in
-- which the rank waits for others, so the bandwidth is a lower bound; best_gb_s is that of the
-- shortest call, which waited least. link_ns is the time that all calls would take at the bandwidth
-- of the link.
--
-- Source: collectives; nccl-tests, PERFORMANCE.md.
-- Example: SELECT collective, group_size, size_bytes, calls, bus_gb_s, best_gb_s, link_pct
--   FROM collective_roofline ORDER BY device_ns DESC LIMIT 5
-- Holds: bus_gb_s <= best_gb_s * 1.000001
-- Holds: (link_gb_s IS NULL OR bus_gb_s IS NULL) = (reason IS NOT NULL)
--
-- @scope job
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not known.
-- @column device BIGINT id Device; NULL on the host.
-- @column collective VARCHAR text As in collectives.
-- @column group_size BIGINT count Ranks in the group; NULL if not recorded.
-- @column size_bytes BIGINT bytes Size of one call; NULL if not recorded.
-- @column calls BIGINT count Number of calls.
-- @column device_ns BIGINT ns Sum of their durations, waiting for others included.
-- @column bus_gb_s DOUBLE GB/s Bus bandwidth over all calls; NULL if sizes are not recorded.
-- @column best_gb_s DOUBLE GB/s Bus bandwidth of the shortest call; NULL if sizes are not recorded.
-- @column link_gb_s DOUBLE GB/s The setting link_gb_s; NULL if it is 0.
-- @column link_pct DOUBLE pct bus_gb_s as percent of link_gb_s; NULL if not known.
-- @column best_link_pct DOUBLE pct best_gb_s as percent of link_gb_s; NULL if not known.
-- @column link_ns DOUBLE ns Time of all calls at the bandwidth of the link; NULL if not known.
-- @column lost_ns DOUBLE ns device_ns less link_ns; NULL if not known.
-- @column reason VARCHAR text Why there is no share; NULL if there is one.
WITH grouped AS (
    SELECT
        trace_id, rank, device, collective, group_size, size_bytes,
        count(*) AS calls,
        sum(dur_ns) AS device_ns,
        sum(bus_bandwidth_gb_s * dur_ns) / sum(dur_ns) AS bus_gb_s,
        max(bus_bandwidth_gb_s) AS best_gb_s,
        CASE WHEN setting('link_gb_s') > 0 THEN setting('link_gb_s') END AS link_gb_s
    FROM collectives
    WHERE dur_ns > 0
    GROUP BY trace_id, rank, device, collective, group_size, size_bytes
),
timed AS (
    SELECT *, bus_gb_s * device_ns / link_gb_s AS link_ns FROM grouped
)
SELECT
    trace_id, rank, device, collective, group_size, size_bytes, calls, device_ns, bus_gb_s,
    best_gb_s, link_gb_s,
    100.0 * bus_gb_s / link_gb_s AS link_pct,
    100.0 * best_gb_s / link_gb_s AS best_link_pct,
    link_ns,
    device_ns - link_ns AS lost_ns,
    CASE
        WHEN bus_gb_s IS NULL THEN 'the sizes or the group were not recorded'
        WHEN link_gb_s IS NULL THEN 'the bandwidth of the link is not known: set link_gb_s'
    END AS reason
FROM timed
