-- Idle time of each device between its first and its last work, by cause.
--
-- The parts of all gaps of gpu_idle_gaps by cause, which add up to
-- gpu_timeline_by_device.idle_time_ns exactly. Each device with work has a row for each cause, with
-- 0 where nothing was spent on it, gaps or none. gaps counts the gaps with a part of that cause.
--
-- Source: gpu_idle_gaps.
-- Example: SELECT device, cause, gaps, idle_ns, idle_pct FROM gpu_idle_causes ORDER BY idle_ns DESC
--   LIMIT 6
-- Holds: abs(sum(idle_pct) OVER (PARTITION BY trace_id, device) - 100) < 0.000001
-- Parts: idle_ns BY trace_id, device OF gpu_timeline_by_device.idle_time_ns
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column device BIGINT id Device; NULL where none was written.
-- @column cause VARCHAR text data_loading, synchronisation, host_late, launch_call, queued or
--   unlinked; see gpu_idle_gaps.
-- @column gaps BIGINT count Gaps with a part of this cause.
-- @column idle_ns BIGINT ns Sum of these parts.
-- @column idle_pct DOUBLE pct idle_ns as percent of all idle time of the device; NULL if that is 0.
-- @column total_pct DOUBLE pct idle_ns as percent of the time from the first to the last work of
--   the device; NULL if that is 0.
WITH causes AS (
    SELECT
        trace_id, device, idle_time_ns, total_time_ns,
        unnest(
            make_array(
                'data_loading', 'synchronisation', 'host_late', 'launch_call', 'queued', 'unlinked'
            )
        ) AS cause
    FROM gpu_timeline_by_device
),
sums AS (
    SELECT
        trace_id, device,
        unnest(
            make_array(
                'data_loading', 'synchronisation', 'host_late', 'launch_call', 'queued', 'unlinked'
            )
        ) AS cause,
        unnest(make_array(
            count(*) FILTER (WHERE data_loading_ns > 0),
            count(*) FILTER (WHERE synchronisation_ns > 0),
            count(*) FILTER (WHERE host_late_ns > 0),
            count(*) FILTER (WHERE launch_call_ns > 0),
            count(*) FILTER (WHERE queued_ns > 0),
            count(*) FILTER (WHERE unlinked_ns > 0)
        )) AS gaps,
        unnest(make_array(
            sum(data_loading_ns), sum(synchronisation_ns), sum(host_late_ns), sum(launch_call_ns),
            sum(queued_ns), sum(unlinked_ns)
        )) AS idle_ns
    FROM _idle_parts
    GROUP BY trace_id, device
)
SELECT
    c.trace_id, t.rank, c.device, c.cause,
    coalesce(s.gaps, 0) AS gaps,
    coalesce(s.idle_ns, 0) AS idle_ns,
    100.0 * coalesce(s.idle_ns, 0) / nullif(c.idle_time_ns, 0) AS idle_pct,
    100.0 * coalesce(s.idle_ns, 0) / nullif(c.total_time_ns, 0) AS total_pct
FROM causes c
JOIN traces t ON t.trace_id = c.trace_id
LEFT JOIN sums s
    ON s.trace_id = c.trace_id AND s.cause = c.cause AND (s.device IS NOT DISTINCT FROM c.device)
