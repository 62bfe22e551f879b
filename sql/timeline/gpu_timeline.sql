-- The time of devices, all of a trace together or each on its own.
-- @expand gpu_timeline whose="a trace's devices" keys="trace_id"
-- @expand gpu_timeline_by_device whose="each device" keys="trace_id, device" devices
--
-- Where the time of {whose} goes: computation, exposed communication, exposed copies, idle.
--
-- @if devices
-- The rules are those of gpu_timeline, which has one timeline for all devices of a trace.
-- @else
-- All devices of the trace are one timeline; gpu_timeline_by_device has one for each.
-- @end
-- Communication and copies are those of kernel_classes; all other kernels and fills are
-- computation, including those that could not be classified: unclassified_time_ns says how long
-- these run, and exposed_comm_max_ns is exposed_comm_time_ns if all of them were communication.
-- Each time is the length of a union, so that what runs side by side counts once. Communication is
-- exposed where no computation runs, a copy where neither runs. computation + exposed_comm +
-- exposed_memcpy = busy, and busy + idle = total, which is from the first start to the last end.
-- Waits of the device are not work.
-- All device work counts, whether its launch was found or not; linked_events counts those with a
-- launch.
--
-- @if devices
-- Source: the terms of TraceLens' gpu_timeline, which does not tell devices apart.
-- Example: SELECT device, computation_pct, exposed_comm_pct, exposed_memcpy_pct, idle_pct
--   FROM gpu_timeline_by_device
-- @else
-- Source: the terms of TraceLens' gpu_timeline; tracelens_gpu_timeline has its numbers, which know
--   three names of communication kernels and leave out work without a launch.
-- Example: SELECT computation_pct, exposed_comm_pct, exposed_memcpy_pct, idle_pct FROM gpu_timeline
-- @end
-- Holds: computation_time_ns + exposed_comm_time_ns + exposed_memcpy_time_ns = busy_time_ns
-- Holds: busy_time_ns + idle_time_ns = total_time_ns
-- Holds: exposed_comm_time_ns <= total_comm_time_ns AND exposed_memcpy_time_ns <=
--   total_memcpy_time_ns
-- Holds: linked_events <= gpu_events
-- Holds: unclassified_time_ns <= computation_time_ns AND exposed_comm_time_ns <=
--   exposed_comm_max_ns
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @if devices
-- @column device BIGINT id Device number; NULL where none was written.
-- @end
-- @column gpu_events BIGINT count Kernels, copies and fills.
-- @column linked_events BIGINT count Those whose launch was found.
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
-- @column unclassified_time_ns BIGINT ns Time in which a kernel runs whose class is not known; part
--   of computation_time_ns.
-- @column exposed_comm_max_ns BIGINT ns exposed_comm_time_ns if all unclassified kernels were
--   communication.
-- @column computation_pct DOUBLE pct computation_time_ns as percent of total_time_ns.
-- @column exposed_comm_pct DOUBLE pct exposed_comm_time_ns as percent of total_time_ns.
-- @column exposed_memcpy_pct DOUBLE pct exposed_memcpy_time_ns as percent of total_time_ns.
-- @column busy_pct DOUBLE pct busy_time_ns as percent of total_time_ns.
-- @column idle_pct DOUBLE pct idle_time_ns as percent of total_time_ns.
WITH activities AS (
    SELECT
        {keys}, launch_id, ts_ns, end_ns, class = 'unclassified' AS is_unclassified,
        CASE WHEN class IN ('memcpy', 'communication') THEN class ELSE 'computation' END AS class
    FROM kernel_classes
    WHERE class <> 'sync'
),
times AS (
    SELECT
        {keys},
        count(*) AS gpu_events,
        count(launch_id) AS linked_events,
        interval_union_len(ts_ns, end_ns) FILTER (WHERE class = 'computation') AS computation_ns,
        interval_union_len(ts_ns, end_ns) FILTER (WHERE class <> 'memcpy')
            AS computation_or_comm_ns,
        interval_union_len(ts_ns, end_ns) AS busy_ns,
        interval_union_len(ts_ns, end_ns) FILTER (WHERE class = 'communication') AS comm_ns,
        interval_union_len(ts_ns, end_ns) FILTER (WHERE class = 'memcpy') AS memcpy_ns,
        interval_union_len(ts_ns, end_ns) FILTER (WHERE is_unclassified) AS unclassified_ns,
        interval_union_len(ts_ns, end_ns)
            FILTER (WHERE class = 'computation' AND NOT is_unclassified) AS classified_ns,
        max(end_ns) - min(ts_ns) AS total_ns
    FROM activities
    GROUP BY {keys}
),
timeline AS (
    SELECT
        {keys}, gpu_events, linked_events,
        computation_ns AS computation_time_ns,
        computation_or_comm_ns - computation_ns AS exposed_comm_time_ns,
        busy_ns - computation_or_comm_ns AS exposed_memcpy_time_ns,
        busy_ns AS busy_time_ns,
        total_ns - busy_ns AS idle_time_ns,
        total_ns AS total_time_ns,
        comm_ns AS total_comm_time_ns,
        memcpy_ns AS total_memcpy_time_ns,
        coalesce(unclassified_ns, 0) AS unclassified_time_ns,
        computation_or_comm_ns - coalesce(classified_ns, 0) AS exposed_comm_max_ns
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
