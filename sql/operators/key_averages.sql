-- PyTorch's own table, by name and on request also by input shape.
-- @expand key_averages keys="name"
-- @expand key_averages_by_input_shape keys="name, input_shapes" shapes
--
-- @if shapes
-- PyTorch's own table grouped by input shape: key_averages(group_by_input_shape=True).
-- @else
-- PyTorch's own table, key_averages(): operators, annotations, runtime calls and kernels by name.
-- @end
--
-- Host rows are operators, annotations and runtime calls; device rows are kernels, copies and
-- fills. ProfilerStep#N counts as ProfilerStep*. A row that is the only one inside a row of its
-- name counts as one with it. CPU total of nested rows is counted at every level, so the
-- percentages of CPU total can add up to more than 100. Device times of a host row are sums over
-- the work launched in it; totals include rows inside. Operators that PyTorch hides are left out.
-- Memory columns need profile_memory=True (since PyTorch 1.9). As in PyTorch, memory counts for all
-- rows that run at its time, on any thread, so that rows of two threads both have it; what was
-- allocated or freed while no row ran is the row [memory]. PyTorch computes FLOPs while it profiles
-- and does not write them into traces: here they are computed from the inputs (record_shapes=True),
-- by its formulas; for aten::conv2d the trace must hold Concrete Inputs (since PyTorch 2.0). Self
-- CPU differs in one case: where an annotation holds annotations, PyTorch 2.15 with Python stacks
-- takes time that an annotation and a frame of the profiler share off twice, so that its value can
-- be below 0; here it is taken off once.
--
-- Source: torch.autograd.profiler_util of PyTorch 2.15; counts, CPU times, memory and FLOPs are
--   equal to those of key_averages() of the same run.
-- Example: SELECT name AS "Name", round(self_cpu_pct, 2) AS "Self CPU %",
--   format_ns(self_cpu_ns) AS "Self CPU", format_ns(cpu_total_ns) AS "CPU total",
--   format_bytes(self_cpu_mem_bytes) AS "Self CPU Mem", calls AS "# of Calls",
-- @if shapes
--   input_shapes AS "Input Shapes",
-- @end
--   flops AS "Total FLOPs"
--   FROM {view} WHERE device_type = 'cpu' ORDER BY self_cpu_ns DESC LIMIT 5
-- Holds: self_cpu_ns <= cpu_total_ns
-- Holds: abs(sum(self_cpu_pct) OVER (PARTITION BY trace_id) - 100) < 0.000001
-- Range: sum self_cpu_ns, cpu_total_ns, self_device_ns, device_total_ns, self_cpu_us, cpu_total_us,
--   self_device_us, device_total_us, cpu_time_avg_ns, device_time_avg_ns
-- Range: any cpu_total_pct; PyTorch's table divides by the sum of self times, and calls of one name
--   within each other count each.
-- Range: any cpu_mem_bytes, self_cpu_mem_bytes, device_mem_bytes, self_device_mem_bytes;
--   allocations less frees.
-- @if shapes
-- Parts: self_cpu_ns BY trace_id, name OF key_averages.self_cpu_ns
-- Parts: self_device_ns BY trace_id, name OF key_averages.self_device_ns
-- @end
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column device_type VARCHAR text cpu for host rows, device for device rows.
-- @column name VARCHAR text Name.
-- @if shapes
-- @column input_shapes VARCHAR json Input Shapes: shapes of the inputs; [] if not recorded, NULL
--   for device rows.
-- @end
-- @column calls BIGINT count # of Calls.
-- @column self_cpu_ns BIGINT ns Self CPU: duration less the rows directly inside.
-- @column self_cpu_pct DOUBLE pct Self CPU %: self_cpu_ns as percent of its sum over the trace.
-- @column cpu_total_ns BIGINT ns CPU total: duration.
-- @column cpu_total_pct DOUBLE pct CPU total %: cpu_total_ns as percent of the sum of self_cpu_ns
--   over the trace.
-- @column cpu_time_avg_ns DOUBLE ns CPU time avg: cpu_total_ns by calls.
-- @column self_device_ns BIGINT ns Self CUDA (XPU, …): device time launched by the row itself; the
--   duration for device rows.
-- @column self_device_pct DOUBLE pct Self CUDA %: self_device_ns as percent of all device work of
--   the trace; NULL if the trace has no device work.
-- @column device_total_ns BIGINT ns CUDA total: device time launched in the row; the duration for
--   device rows.
-- @column device_time_avg_ns DOUBLE ns CUDA time avg: device_total_ns by calls.
-- @column self_cpu_us DOUBLE us self_cpu_ns in microseconds.
-- @column cpu_total_us DOUBLE us cpu_total_ns in microseconds.
-- @column self_device_us DOUBLE us self_device_ns in microseconds.
-- @column device_total_us DOUBLE us device_total_ns in microseconds.
-- @column cpu_mem_bytes BIGINT bytes CPU Mem: host memory allocated less freed while the calls ran,
--   on any thread; NULL if not recorded.
-- @column self_cpu_mem_bytes BIGINT bytes Self CPU Mem: the same without the rows directly inside.
-- @column device_mem_bytes BIGINT bytes CUDA Mem (XPU, …): device memory allocated less freed while
--   the calls ran; NULL if not recorded.
-- @column self_device_mem_bytes BIGINT bytes Self CUDA Mem: the same without the rows directly
--   inside.
-- @column flops BIGINT flop Total FLOPs, by PyTorch's formulas for mm, addmm, bmm, baddbmm, conv2d,
--   add and mul; NULL for others and without inputs.
WITH work AS (
    SELECT
        r.trace_id,
        'cpu' AS device_type,
        CASE WHEN starts_with(r.name, 'ProfilerStep#') THEN 'ProfilerStep*' ELSE r.name END AS name,
-- @if shapes
        coalesce(input_dims, '[]') AS input_shapes,
-- @end
        call_self_ns AS self_cpu_ns,
        dur_ns AS cpu_total_ns,
        call_device_ns AS self_device_ns,
        device_total_ns,
        0 AS device_ns,
        cpu_bytes AS cpu_mem_bytes, call_self_cpu_bytes AS self_cpu_mem_bytes,
        device_bytes AS device_mem_bytes, call_self_device_bytes AS self_device_mem_bytes,
        f.event_id AS counted_id, f.flops
    FROM _record_functions r
    LEFT JOIN _record_function_flops f ON f.trace_id = r.trace_id AND f.event_id = r.event_id
    WHERE r.call_id = r.event_id
    UNION ALL
    SELECT
        trace_id, 'device', name,
-- @if shapes
        CAST(NULL AS VARCHAR) AS input_shapes,
-- @end
        0 AS self_cpu_ns, 0 AS cpu_total_ns,
        dur_ns AS self_device_ns, dur_ns AS device_total_ns, dur_ns AS device_ns,
        NULL, NULL, NULL, NULL, NULL, NULL
    FROM kernels
    WHERE kind IN ('kernel', 'memcpy', 'memset') AND dur_ns IS NOT NULL
    UNION ALL
    SELECT
        trace_id, 'cpu', '[memory]',
-- @if shapes
        '[]',
-- @end
        0, 0, 0, 0, 0,
        cpu_bytes, cpu_bytes AS self_cpu_mem_bytes,
        device_bytes, device_bytes AS self_device_mem_bytes,
        NULL, NULL
    FROM _event_memory
    WHERE event_id IS NULL
),
grouped AS (
    SELECT
        trace_id, device_type, {keys},
        count(*) AS calls,
        sum(self_cpu_ns) AS self_cpu_ns,
        sum(cpu_total_ns) AS cpu_total_ns,
        sum(self_device_ns) AS self_device_ns,
        sum(device_total_ns) AS device_total_ns,
        sum(cpu_mem_bytes) AS cpu_mem_bytes,
        sum(self_cpu_mem_bytes) AS self_cpu_mem_bytes,
        sum(device_mem_bytes) AS device_mem_bytes,
        sum(self_device_mem_bytes) AS self_device_mem_bytes,
        CASE WHEN count(counted_id) = count(flops) THEN sum(flops) END AS flops,
        sum(sum(self_cpu_ns)) OVER (PARTITION BY trace_id) AS all_cpu_ns,
        sum(sum(device_ns)) OVER (PARTITION BY trace_id) AS all_device_ns
    FROM work
    GROUP BY trace_id, device_type, {keys}
)
SELECT
    g.trace_id, t.rank, g.device_type, {keys}, g.calls,
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
    g.device_total_ns / 1000.0 AS device_total_us,
    g.cpu_mem_bytes, g.self_cpu_mem_bytes, g.device_mem_bytes, g.self_device_mem_bytes, g.flops
FROM grouped g
JOIN traces t ON t.trace_id = g.trace_id
