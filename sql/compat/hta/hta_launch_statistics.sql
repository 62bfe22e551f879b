-- Launch calls with their device work, and whether each is in one of the three histograms of
-- Holistic Trace Analysis 0.6.1.
--
-- Calls are cudaLaunchKernel, cudaLaunchKernelExC and MTIA's, and for is_memory cudaMemcpyAsync and
-- cudaMemsetAsync: no driver API, no HIP, no graphs. Rows are those that HTA keeps: whole
-- microseconds, without the last step. The three limits are the settings hta_runtime_cutoff_us and
-- hta_launch_delay_cutoff_us.
--
-- Source: get_cuda_kernel_launch_stats of HTA 0.6.1; launch_statistics and launch_histogram have
--   all launch calls.
-- Example: SELECT rank, count(*), count(*) FILTER (WHERE is_short_kernel) AS short_kernels,
--   count(*) FILTER (WHERE is_launch_delay_outlier) AS late FROM hta_launch_statistics
--   GROUP BY rank ORDER BY rank
-- Holds: launch_delay_us >= 0
-- Range: any cpu_duration_us, gpu_duration_us; an event below 1 us can have -1.
-- Range: any launch_delay_us; a delay can exceed the trace.
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column correlation BIGINT id Correlation of call and work.
-- @column is_memory BOOLEAN flag Whether the call copies or fills memory; HTA leaves these out with
--   include_memory_events=False.
-- @column cpu_duration_us BIGINT us Duration of the call.
-- @column gpu_duration_us BIGINT us Duration of the work.
-- @column launch_delay_us BIGINT us From the end of the call to the start of the work; 0 if that is
--   earlier.
-- @column is_short_kernel BOOLEAN flag The work is shorter than the call, which is no runtime
--   outlier.
-- @column is_runtime_outlier BOOLEAN flag The call takes longer than hta_runtime_cutoff_us.
-- @column is_launch_delay_outlier BOOLEAN flag The delay is longer than hta_launch_delay_cutoff_us.
WITH names AS (
    SELECT name, kind
    FROM (
        SELECT name, classify('hta_launch_call', name) AS kind
        FROM (SELECT DISTINCT name FROM _hta_rows WHERE stream = -1)
    )
    WHERE kind IS NOT NULL
),
launches AS (
    SELECT
        r.trace_id, r.correlation,
        bool_and(n.kind = 'memory') AS is_memory
    FROM _hta_rows r
    JOIN names n ON n.name = r.name
    WHERE r.correlation IS NOT NULL
    GROUP BY r.trace_id, r.correlation
),
pairs AS (
    SELECT
        l.trace_id, l.correlation, l.is_memory,
        c.dur_us AS cpu_us,
        w.dur_us AS gpu_us,
        greatest(0, w.start_us - c.end_us) AS delay_us
    FROM launches l
    JOIN _hta_rows c
        ON c.trace_id = l.trace_id AND c.correlation = l.correlation AND c.stream = -1
    JOIN _hta_work w ON w.trace_id = l.trace_id AND w.correlation = l.correlation
)
SELECT
    p.trace_id, t.rank, p.correlation, p.is_memory,
    p.cpu_us AS cpu_duration_us,
    p.gpu_us AS gpu_duration_us,
    p.delay_us AS launch_delay_us,
    p.cpu_us <= setting_int('hta_runtime_cutoff_us') AND p.gpu_us < p.cpu_us AS is_short_kernel,
    p.cpu_us > setting_int('hta_runtime_cutoff_us') AS is_runtime_outlier,
    p.delay_us > setting_int('hta_launch_delay_cutoff_us') AS is_launch_delay_outlier
FROM pairs p
JOIN traces t ON t.trace_id = p.trace_id
