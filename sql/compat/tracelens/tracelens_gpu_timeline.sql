-- The device timeline as TraceLens counts it: computation, exposed communication, exposed copies,
-- idle.
--
-- For comparison with its reports; gpu_timeline is the view to work with. TraceLens counts kernels,
-- copies and fills of the categories kernel, gpu_memcpy and gpu_memset that an arrow of category
-- ac2g, or a graph launch, links to a runtime or driver call; linked_events says how many of
-- gpu_events those are. All times are of linked work alone, so busy_time_ns can be less than what
-- the devices did, and total_time_ns begins and ends with linked work. Work with nccl, rccl or
-- cross_device_reduce in its name (in any case) is communication, even fills. Copies are those of
-- category gpu_memcpy, and kernels with the names that older ROCm profilers give copies. Everything
-- else is computation, including other collectives. All devices of a trace are one timeline. A
-- trace without linked work has no row here; TraceLens fails with an error. Differences: times are
-- exact nanoseconds here, TraceLens adds floats of microseconds, which in traces with absolute
-- times loses up to 0.25 us for each start and end. Work within a recomputation is not separated,
-- which TraceLens does on request.
--
-- Source: gpu_timeline of TraceLens 0.1.0 without include_unlinked_kernels.
-- Example: SELECT linked_events, computation_pct, exposed_comm_pct, exposed_memcpy_pct, idle_pct
--   FROM tracelens_gpu_timeline
-- Holds: computation_time_ns + exposed_comm_time_ns + exposed_memcpy_time_ns = busy_time_ns
-- Holds: busy_time_ns + idle_time_ns = total_time_ns
-- Holds: linked_events <= gpu_events
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column gpu_events BIGINT count Kernels, copies and fills of the categories that TraceLens knows.
-- @column linked_events BIGINT count Those that TraceLens links to a call; all times are of them.
-- @column computation_time_ns BIGINT ns Time in which computation runs.
-- @column exposed_comm_time_ns BIGINT ns Time in which communication runs and no computation.
-- @column exposed_memcpy_time_ns BIGINT ns Time in which copies run and nothing else.
-- @column busy_time_ns BIGINT ns Time in which anything runs.
-- @column idle_time_ns BIGINT ns Time between the first start and the last end in which nothing
--   runs.
-- @column total_time_ns BIGINT ns From the first start to the last end.
-- @column total_comm_time_ns BIGINT ns Time in which communication runs, whether or not something
--   else runs at the same time.
-- @column total_memcpy_time_ns BIGINT ns Time in which copies run, whether or not something else
--   runs at the same time.
-- @column computation_pct DOUBLE pct computation_time_ns as percent of total_time_ns.
-- @column exposed_comm_pct DOUBLE pct exposed_comm_time_ns as percent of total_time_ns.
-- @column exposed_memcpy_pct DOUBLE pct exposed_memcpy_time_ns as percent of total_time_ns.
-- @column busy_pct DOUBLE pct busy_time_ns as percent of total_time_ns.
-- @column idle_pct DOUBLE pct idle_time_ns as percent of total_time_ns.
WITH activities AS (
    SELECT
        e.trace_id, l.event_id AS linked_id, e.ts_ns, e.end_ns,
        CASE
            WHEN e.cat = 'gpu_memcpy' THEN 'memcpy'
            WHEN e.cat = 'gpu_memset'
                AND classify('tracelens_kernel_type', e.name) <> 'communication'
                THEN 'computation'
            ELSE coalesce(classify('tracelens_kernel_type', e.name), 'computation')
        END AS class
    FROM events e
    LEFT JOIN _tracelens_linked l ON l.trace_id = e.trace_id AND l.event_id = e.event_id
    WHERE e.cat IN ('kernel', 'gpu_memcpy', 'gpu_memset') AND e.end_ns IS NOT NULL
),
times AS (
    SELECT
        trace_id,
        count(*) AS gpu_events,
        count(linked_id) AS linked_events,
        interval_union_len(ts_ns, end_ns)
            FILTER (WHERE linked_id IS NOT NULL AND class = 'computation') AS computation_ns,
        interval_union_len(ts_ns, end_ns) FILTER (WHERE linked_id IS NOT NULL AND class <> 'memcpy')
            AS computation_or_comm_ns,
        interval_union_len(ts_ns, end_ns) FILTER (WHERE linked_id IS NOT NULL) AS busy_ns,
        interval_union_len(ts_ns, end_ns)
            FILTER (WHERE linked_id IS NOT NULL AND class = 'communication') AS comm_ns,
        interval_union_len(ts_ns, end_ns) FILTER (WHERE linked_id IS NOT NULL AND class = 'memcpy')
            AS memcpy_ns,
        max(end_ns) FILTER (WHERE linked_id IS NOT NULL)
            - min(ts_ns) FILTER (WHERE linked_id IS NOT NULL) AS total_ns
    FROM activities
    GROUP BY trace_id
    HAVING count(linked_id) > 0
),
timeline AS (
    SELECT
        trace_id, gpu_events, linked_events,
        computation_ns AS computation_time_ns,
        computation_or_comm_ns - computation_ns AS exposed_comm_time_ns,
        busy_ns - computation_or_comm_ns AS exposed_memcpy_time_ns,
        busy_ns AS busy_time_ns,
        total_ns - busy_ns AS idle_time_ns,
        total_ns AS total_time_ns,
        comm_ns AS total_comm_time_ns,
        memcpy_ns AS total_memcpy_time_ns
    FROM times
)
SELECT
    *,
    100.0 * computation_time_ns / NULLIF(total_time_ns, 0) AS computation_pct,
    100.0 * exposed_comm_time_ns / NULLIF(total_time_ns, 0) AS exposed_comm_pct,
    100.0 * exposed_memcpy_time_ns / NULLIF(total_time_ns, 0) AS exposed_memcpy_pct,
    100.0 * busy_time_ns / NULLIF(total_time_ns, 0) AS busy_pct,
    100.0 * idle_time_ns / NULLIF(total_time_ns, 0) AS idle_pct
FROM timeline
