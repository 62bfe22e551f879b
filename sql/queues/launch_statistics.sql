-- Launch calls by name and kind of work: time of the call, delay until the work begins, work that
-- is shorter than its call, and outliers.
--
-- One row per name of a call and kind of device work. A call that launched several activities, as a
-- CUDA graph does, counts once in calls and call times, and once for each activity in delays.
-- Outliers are calls longer than the setting launch_call_outlier_ns and delays longer than
-- launch_delay_outlier_ns. Work that is shorter than its call is launched more slowly than it runs.
-- launch_histogram has the distributions.
--
-- Source: get_cuda_kernel_launch_stats of Holistic Trace Analysis, which leaves out the driver API,
--   HIP and graphs; hta_launch_statistics has its own numbers.
-- Example: SELECT launch_name, kind, calls, median_call_ns, median_delay_ns, short_work
--   FROM launch_statistics ORDER BY calls DESC
-- Holds: calls <= work AND short_work <= work AND late_work <= work AND early_work <= work
-- Holds: slow_calls <= calls
-- Holds: median_call_ns <= p95_call_ns AND p95_call_ns <= max_call_ns
-- Range: sum call_ns, work_ns
-- Range: any mean_delay_ns, median_delay_ns, p95_delay_ns, max_delay_ns; work can begin long after
--   the trace's last call.
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column launch_name VARCHAR text Name of the runtime or driver call.
-- @column kind VARCHAR text kernel, memcpy or memset.
-- @column calls BIGINT count Number of calls.
-- @column work BIGINT count Activities that they launched.
-- @column call_ns BIGINT ns Sum of the calls' durations.
-- @column mean_call_ns DOUBLE ns Mean duration of a call.
-- @column median_call_ns DOUBLE ns Median.
-- @column p95_call_ns DOUBLE ns 95th percentile.
-- @column max_call_ns BIGINT ns The longest.
-- @column slow_calls BIGINT count Calls longer than launch_call_outlier_ns.
-- @column mean_delay_ns DOUBLE ns Mean time from the end of the call to the start of the work; 0
--   for work that begins before the call returns.
-- @column median_delay_ns DOUBLE ns Median.
-- @column p95_delay_ns DOUBLE ns 95th percentile.
-- @column max_delay_ns BIGINT ns The longest.
-- @column late_work BIGINT count Activities with a delay longer than launch_delay_outlier_ns.
-- @column early_work BIGINT count Activities that begin before their call returns.
-- @column work_ns BIGINT ns Sum of the activities' durations.
-- @column short_work BIGINT count Activities that are shorter than their call.
WITH calls AS (
    SELECT
        trace_id, launch_name, kind, launch_id,
        max(call_ns) AS call_ns
    FROM _launch_pairs
    GROUP BY trace_id, launch_name, kind, launch_id
),
by_call AS (
    SELECT
        trace_id, launch_name, kind,
        count(*) AS calls,
        sum(call_ns) AS call_ns,
        avg(call_ns) AS mean_call_ns,
        quantile(call_ns, 0.5) AS median_call_ns,
        quantile(call_ns, 0.95) AS p95_call_ns,
        max(call_ns) AS max_call_ns,
        count(*) FILTER (WHERE call_ns > setting_int('launch_call_outlier_ns')) AS slow_calls
    FROM calls
    GROUP BY trace_id, launch_name, kind
),
by_work AS (
    SELECT
        trace_id, launch_name, kind,
        count(*) AS work,
        avg(delay_ns) AS mean_delay_ns,
        quantile(delay_ns, 0.5) AS median_delay_ns,
        quantile(delay_ns, 0.95) AS p95_delay_ns,
        max(delay_ns) AS max_delay_ns,
        count(*) FILTER (WHERE delay_ns > setting_int('launch_delay_outlier_ns')) AS late_work,
        count(*) FILTER (WHERE began_early) AS early_work,
        sum(work_ns) AS work_ns,
        count(*) FILTER (WHERE work_ns < call_ns) AS short_work
    FROM _launch_pairs
    GROUP BY trace_id, launch_name, kind
)
SELECT
    c.trace_id, t.rank, c.launch_name, c.kind, c.calls, w.work,
    c.call_ns, c.mean_call_ns, c.median_call_ns, c.p95_call_ns, c.max_call_ns, c.slow_calls,
    w.mean_delay_ns, w.median_delay_ns, w.p95_delay_ns, w.max_delay_ns, w.late_work, w.early_work,
    w.work_ns, w.short_work
FROM by_call c
JOIN by_work w
    ON w.trace_id = c.trace_id
        AND (w.launch_name IS NOT DISTINCT FROM c.launch_name)
        AND w.kind = c.kind
JOIN traces t ON t.trace_id = c.trace_id
