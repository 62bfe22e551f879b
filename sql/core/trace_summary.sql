-- Contents and length of each trace, and how much of its device work is linked to the host.
--
-- Example: SELECT path, rank, events, kernels, linked_pct FROM trace_summary
-- Holds: linked_kernels <= kernels
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column path VARCHAR text The input as it was named.
-- @column format VARCHAR text kineto, chrome, mllm_perf, torch_memory, nsys, rocpd, rpd, rocprofv3,
--   xplane, perfetto, flight_recorder, execution_trace, memory_timeline or stacks.
-- @column rank BIGINT id Rank of the process in the job; NULL if not recorded.
-- @column world_size BIGINT count Ranks in the job; NULL if not recorded.
-- @column duration_ns BIGINT ns From the earliest start to the latest end of work
--   (traces.duration_ns); NULL without any.
-- @column events BIGINT count Elements that became rows.
-- @column skipped BIGINT count Elements that did not; ingest_issues says why.
-- @column steps BIGINT count Profiler steps.
-- @column devices BIGINT count Devices that ran something.
-- @column kernels BIGINT count Device activities: kernels, copies, fills; not waits.
-- @column linked_kernels BIGINT count Device activities whose launch was found.
-- @column unlinkable_kernels BIGINT count Device activities of a kind that never carries a
--   correlation (kernels.link_reason never_correlated).
-- @column linked_pct DOUBLE pct linked_kernels as percent of kernels - unlinkable_kernels; NULL if
--   that is 0.
-- @column linked_time_pct DOUBLE pct Their time as percent of the time of kernels that are not
--   unlinkable; NULL if that is 0.
-- @column issues BIGINT count Kinds of oddities met while reading, except those of severity info.
WITH device AS (
    SELECT
        trace_id,
        count(*) AS kernels,
        count(launch_id) AS linked,
        count(*) FILTER (WHERE link_reason = 'never_correlated') AS unlinkable,
        sum(dur_ns) FILTER (WHERE link_reason IS DISTINCT FROM 'never_correlated') AS linkable_ns,
        sum(dur_ns) FILTER (WHERE launch_id IS NOT NULL) AS linked_ns,
        count(DISTINCT device) AS devices
    FROM kernels
    WHERE kind <> 'sync'
    GROUP BY trace_id
), step AS (
    SELECT trace_id, count(*) AS steps FROM steps GROUP BY trace_id
), issue AS (
    SELECT trace_id, count(*) AS issues
    FROM ingest_issues
    WHERE severity <> 'info'
    GROUP BY trace_id
)
SELECT
    t.trace_id, t.path, t.format, t.rank, t.world_size, t.duration_ns,
    t.event_count AS events,
    t.skipped_count AS skipped,
    coalesce(s.steps, 0) AS steps,
    coalesce(d.devices, 0) AS devices,
    coalesce(d.kernels, 0) AS kernels,
    coalesce(d.linked, 0) AS linked_kernels,
    coalesce(d.unlinkable, 0) AS unlinkable_kernels,
    100.0 * d.linked / nullif(d.kernels - d.unlinkable, 0) AS linked_pct,
    100.0 * coalesce(d.linked_ns, 0) / nullif(d.linkable_ns, 0) AS linked_time_pct,
    coalesce(i.issues, 0) AS issues
FROM traces t
LEFT JOIN device d ON d.trace_id = t.trace_id
LEFT JOIN step s ON s.trace_id = t.trace_id
LEFT JOIN issue i ON i.trace_id = t.trace_id
