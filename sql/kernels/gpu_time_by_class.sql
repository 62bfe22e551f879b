-- Device time by class of work, of whole traces or of each step.
-- @expand gpu_time_by_class keys="device" span="the device was busy" whole="a device"
-- @expand gpu_time_by_class_and_step keys="device, step" steps
--   span="the device was busy with the step" whole="a device's step"
--
-- @if steps
-- Device time by class of work, device and step.
-- @else
-- Device time by class of work and device: products, attention, communication, copies and the rest.
-- @end
--
-- @if steps
-- The work of a step is what was launched in it, wherever it ran; work launched outside steps has
-- the step NULL.
-- @end
-- Classes are those of kernel_classes, and what no evidence could classify is unclassified.
-- total_ns is the sum of durations, union_ns the time in which work of the class ran. time_ns
-- divides the time in which {span} among the classes: a moment in which several run counts for the
-- first in the order computation (gemm, conv, attention, …), communication, copies. So the time_ns
-- of {whole} add up to busy_ns.
-- @if steps
-- @else
-- The time_ns of computation add up to gpu_timeline_by_device.computation_time_ns; that of
-- communication is exposed_comm_time_ns, and that of memcpy is exposed_memcpy_time_ns.
-- @end
--
-- Source: kernel_classes; docs/kernels.md.
-- Example: SELECT {keys}, class, activities, time_ns, time_pct FROM {view}
--   ORDER BY {keys}, time_ns DESC, class LIMIT 5
-- Holds: sum(time_ns) OVER (PARTITION BY trace_id, {keys}) = busy_ns
-- Holds: abs(sum(time_pct) OVER (PARTITION BY trace_id, {keys}) - 100) < 0.000001
-- @if steps
-- @else
-- Parts: time_ns BY trace_id, device OF gpu_timeline_by_device.busy_time_ns
-- Parts: activities BY trace_id, device OF gpu_timeline_by_device.gpu_events
-- Parts: total_ns BY trace_id, device, class OF gpu_time_by_class_and_step.total_ns
-- @end
-- Holds: time_ns <= union_ns AND union_ns <= busy_ns AND union_ns <= total_ns
-- Holds: matrix_unit_ns + matrix_unit_unclear_ns <= total_ns
-- Range: sum total_ns, matrix_unit_ns, matrix_unit_unclear_ns
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column device BIGINT id Device; NULL where none was written.
-- @if steps
-- @column step BIGINT id Step of the launch; NULL outside steps and if the launch was not found.
-- @end
-- @column class VARCHAR text As in kernel_names.
-- @column part VARCHAR text The part of gpu_timeline that the class belongs to: computation,
--   communication or memcpy.
-- @column activities BIGINT count Kernels, copies and fills.
-- @column names BIGINT count Different names.
-- @column total_ns BIGINT ns Sum of durations.
-- @column union_ns BIGINT ns Time in which work of the class ran.
-- @column time_ns BIGINT ns The part of busy_ns that counts for the class.
-- @column time_pct DOUBLE pct time_ns as percent of busy_ns; NULL if that is 0.
-- @column busy_ns BIGINT ns Time in which {span}.
-- @column matrix_unit_ns BIGINT ns Sum of the durations of kernels whose matrix_unit in
--   kernel_classes is yes.
-- @column matrix_unit_unclear_ns BIGINT ns Sum of the durations of kernels whose matrix_unit is
--   unclear.
WITH activities AS (
    SELECT
        c.trace_id, {keys}, c.class,
        o.rank AS class_rank,
        o.part, c.name, c.ts_ns, c.end_ns, c.dur_ns, c.matrix_unit
    FROM kernel_classes c
    JOIN _kernel_class_order o ON o.class = c.class
    WHERE c.dur_ns >= 0
),
sums AS (
    SELECT
        trace_id, {keys}, class, class_rank, part,
        count(*) AS activities,
        count(DISTINCT name) AS names,
        sum(dur_ns) AS total_ns,
        interval_union_len(ts_ns, end_ns) AS union_ns,
        coalesce(sum(dur_ns) FILTER (WHERE matrix_unit = 'yes'), 0) AS matrix_unit_ns,
        coalesce(sum(dur_ns) FILTER (WHERE matrix_unit = 'unclear'), 0) AS matrix_unit_unclear_ns
    FROM activities
    GROUP BY trace_id, {keys}, class, class_rank, part
),
overlaps AS (
    SELECT trace_id, {keys}, unnest(interval_overlap_len(ts_ns, end_ns, class_rank)) AS o
    FROM activities
    GROUP BY trace_id, {keys}
),
-- A combination counts for the class of its lowest bit.
counted AS (
    SELECT trace_id, {keys}, bit, sum(len_ns) AS time_ns
    -- Grouping happens one level further up. Otherwise the planner would assume that the unnested
    -- columns follow from the keys of the lists, and would group by them.
    FROM (
        SELECT trace_id, {keys}, o['sets'] & (0 - o['sets']) AS bit, o['len'] AS len_ns
        FROM overlaps
    )
    GROUP BY trace_id, {keys}, bit
),
shared AS (
    SELECT s.*, coalesce(c.time_ns, 0) AS time_ns
    FROM sums s
    LEFT JOIN counted c ON c.trace_id = s.trace_id
        AND (c.device IS NOT DISTINCT FROM s.device)
-- @if steps
        -- Comparisons that can be hashed: a trace can have many steps.
        AND coalesce(c.step, -1) = coalesce(s.step, -1) AND (c.step IS NULL) = (s.step IS NULL)
-- @end
        AND c.bit = (1 << s.class_rank)
),
whole AS (
    SELECT *, sum(time_ns) OVER (PARTITION BY trace_id, {keys}) AS busy_ns FROM shared
)
SELECT
    w.trace_id, t.rank, {keys}, w.class, w.part, w.activities, w.names, w.total_ns, w.union_ns,
    w.time_ns,
    100.0 * w.time_ns / nullif(w.busy_ns, 0) AS time_pct,
    w.busy_ns, w.matrix_unit_ns, w.matrix_unit_unclear_ns
FROM whole w
JOIN traces t ON t.trace_id = w.trace_id
