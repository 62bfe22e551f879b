-- PyTorch's own table grouped by input shape: key_averages(group_by_input_shape=True).
--
-- Host rows are operators, annotations and runtime calls; device rows are kernels, copies and fills. ProfilerStep#N counts as ProfilerStep*.
-- A row that is the only one inside a row of its name counts as one with it. CPU total of nested rows is counted at every level, so the
-- percentages of CPU total can add up to more than 100. Device times of a host row are sums over the work launched in it; totals include rows
-- inside. Operators that PyTorch hides are left out. PyTorch's FLOPs are not in traces.
--
-- Source: torch.autograd.profiler_util of PyTorch 2.15; counts and CPU times are equal to those of key_averages() of the same run.
-- Example: SELECT name, self_cpu_us, cpu_total_us, calls FROM key_averages_by_input_shape ORDER BY self_cpu_ns DESC LIMIT 5
--
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column device_type VARCHAR text cpu for host rows, device for device rows.
-- @column name VARCHAR text Name.
-- @column input_shapes VARCHAR json Input Shapes: shapes of the inputs; [] if not recorded, NULL for device rows.
-- @column calls BIGINT count # of Calls.
-- @column self_cpu_ns BIGINT ns Self CPU: duration less the rows directly inside.
-- @column self_cpu_pct DOUBLE pct Self CPU %: self_cpu_ns as percent of its sum over the trace.
-- @column cpu_total_ns BIGINT ns CPU total: duration.
-- @column cpu_total_pct DOUBLE pct CPU total %: cpu_total_ns as percent of the sum of self_cpu_ns over the trace.
-- @column cpu_time_avg_ns DOUBLE ns CPU time avg: cpu_total_ns by calls.
-- @column self_device_ns BIGINT ns Self CUDA (XPU, …): device time launched by the row itself; the duration for device rows.
-- @column self_device_pct DOUBLE pct Self CUDA %: self_device_ns as percent of all device work of the trace; NULL if there is none.
-- @column device_total_ns BIGINT ns CUDA total: device time launched in the row; the duration for device rows.
-- @column device_time_avg_ns DOUBLE ns CUDA time avg: device_total_ns by calls.
-- @column self_cpu_us DOUBLE us self_cpu_ns in microseconds.
-- @column cpu_total_us DOUBLE us cpu_total_ns in microseconds.
-- @column self_device_us DOUBLE us self_device_ns in microseconds.
-- @column device_total_us DOUBLE us device_total_ns in microseconds.
WITH work AS (
    SELECT
        trace_id, 'cpu' AS device_type, CASE WHEN starts_with(name, 'ProfilerStep#') THEN 'ProfilerStep*' ELSE name END AS name, coalesce(input_dims, '[]') AS input_shapes,
        call_self_ns AS self_cpu_ns, dur_ns AS cpu_total_ns, call_device_ns AS self_device_ns, device_total_ns, 0 AS device_ns
    FROM _record_functions
    WHERE call_id = event_id
    UNION ALL
    SELECT trace_id, 'device', name, CAST(NULL AS VARCHAR) AS input_shapes, 0 AS self_cpu_ns, 0 AS cpu_total_ns, dur_ns AS self_device_ns, dur_ns AS device_total_ns, dur_ns AS device_ns
    FROM kernels
    WHERE kind IN ('kernel', 'memcpy', 'memset') AND dur_ns IS NOT NULL
),
grouped AS (
    SELECT
        trace_id, device_type, name, input_shapes,
        count(*) AS calls,
        sum(self_cpu_ns) AS self_cpu_ns,
        sum(cpu_total_ns) AS cpu_total_ns,
        sum(self_device_ns) AS self_device_ns,
        sum(device_total_ns) AS device_total_ns,
        sum(sum(self_cpu_ns)) OVER (PARTITION BY trace_id) AS all_cpu_ns,
        sum(sum(device_ns)) OVER (PARTITION BY trace_id) AS all_device_ns
    FROM work
    GROUP BY trace_id, device_type, name, input_shapes
)
SELECT
    g.trace_id, t.rank, g.device_type, g.name, g.input_shapes, g.calls,
    g.self_cpu_ns,
    100.0 * g.self_cpu_ns / nullif(g.all_cpu_ns, 0) AS self_cpu_pct,
    g.cpu_total_ns,
    100.0 * g.cpu_total_ns / nullif(g.all_cpu_ns, 0) AS cpu_total_pct,
    CAST(g.cpu_total_ns AS DOUBLE) / g.calls AS cpu_time_avg_ns,
    g.self_device_ns,
    100.0 * g.self_device_ns / nullif(g.all_device_ns, 0) AS self_device_pct,
    g.device_total_ns,
    CAST(g.device_total_ns AS DOUBLE) / g.calls AS device_time_avg_ns,
    g.self_cpu_ns / 1000.0 AS self_cpu_us,
    g.cpu_total_ns / 1000.0 AS cpu_total_us,
    g.self_device_ns / 1000.0 AS self_device_us,
    g.device_total_ns / 1000.0 AS device_total_us
FROM grouped g
JOIN traces t ON t.trace_id = g.trace_id
