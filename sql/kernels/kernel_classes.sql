-- Kernels, copies and fills with their class, and the evidence for it.
--
-- One row per device activity, except waits of the device. The first evidence that decides counts.
-- For the class: the trace's category of copies and fills; the arguments that NCCL kernels carry;
-- the name (kernel_names); the mark of a collective around the launch; the operator that launched
-- the kernel. What none of these decides is unclassified.
--
-- For the matrix unit: the name; a device without such units (NVIDIA before compute capability
-- 7.0); the types of the operator's inputs, if the name does not decide. A product of float16 runs
-- on tensor cores from compute capability 7.0, of bfloat16 from 8.0, of float8 from 8.9; a product
-- of float32 or float64 does not before 8.0. From 8.0 on a product of float32 may or may not use
-- TF32, so it stays unclear. All views and rules about communication, matrix units and classes rest
-- on this one.
--
-- Source: `tracesql docs kernel_classification` (docs/kernels.md).
-- Example: SELECT class, count(*) AS activities, sum(dur_ns) AS total_ns FROM kernel_classes
--   GROUP BY class ORDER BY total_ns DESC
-- Holds: dur_ns = end_ns - ts_ns
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column event_id BIGINT id The activity (events.event_id).
-- @column kind VARCHAR text kernel, memcpy or memset, by the trace's category.
-- @column name VARCHAR text Name of the activity.
-- @column device BIGINT id Device; NULL where none was written.
-- @column stream BIGINT id Stream; NULL where none was written.
-- @column step BIGINT id Step of the launch; NULL outside steps.
-- @column launch_id BIGINT id The call that launched it (events.event_id); NULL if it was not
--   found.
-- @column op_id BIGINT id The operator around the launch (events.event_id); NULL outside operators.
-- @column ts_ns BIGINT ns Start.
-- @column dur_ns BIGINT ns Duration; NULL if not recorded.
-- @column end_ns BIGINT ns End.
-- @column class VARCHAR text As in kernel_names.
-- @column class_evidence VARCHAR text What decided: category, arguments, name, mark or operator;
--   NULL for unclassified.
-- @column collective VARCHAR text What a communication kernel does; NULL for other kernels and if
--   nothing says it.
-- @column matrix_unit VARCHAR text Whether it runs on tensor or matrix cores: yes, no or unclear.
-- @column matrix_unit_evidence VARCHAR text What decided: class, name, device or operator; NULL for
--   unclear.
-- @column library VARCHAR text The library or compiler that the kernel comes from; NULL if the name
--   does not say.
-- @column precision VARCHAR text Type of the operands by the name; NULL if it does not say.
WITH named AS (
    SELECT
        k.trace_id, k.event_id, k.kind, k.name, k.device, k.stream, k.step, k.launch_id, k.op_id,
        k.ts_ns, k.dur_ns, k.end_ns, k.collective_name,
        CASE WHEN n.class = 'unclassified' THEN NULL ELSE n.class END AS name_class,
        n.collective AS name_collective, n.library, n.precision,
        coalesce(n.matrix_unit, 'unclear') AS name_unit
    FROM kernels k
    LEFT JOIN kernel_names n ON n.name = k.name
    WHERE k.kind IN ('kernel', 'memcpy', 'memset')
),
unclear AS (
    SELECT trace_id, launch_id, op_id, name_class
    FROM named
    WHERE kind = 'kernel' AND collective_name IS NULL AND name_unit = 'unclear'
),
operators AS (
    SELECT
        e.trace_id, e.event_id,
        classify('operator_class', e.name) AS class,
        lower(e.input_types) AS types
    FROM (SELECT DISTINCT trace_id, op_id FROM unclear WHERE op_id IS NOT NULL) o
    JOIN events e ON e.trace_id = o.trace_id AND e.event_id = o.op_id
),
-- The innermost collective mark around the launch of a kernel whose name does not determine its
-- class.
launches AS (
    SELECT l.trace_id, l.track_id, l.ts_ns, l.end_ns, u.launch_id
    FROM (
        SELECT DISTINCT trace_id, launch_id
        FROM unclear
        WHERE name_class IS NULL AND launch_id IS NOT NULL
    ) u
    JOIN events l ON l.trace_id = u.trace_id AND l.event_id = u.launch_id
),
nested AS (
    SELECT
        trace_id, launch_id,
        nest_parent(event_id, ts_ns, end_ns) OVER (
            PARTITION BY trace_id, track_id ORDER BY ts_ns, end_ns DESC, is_launch
        ) AS mark_id
    FROM (
        SELECT
            trace_id, track_id, event_id, ts_ns, end_ns,
            0 AS is_launch,
            CAST(NULL AS BIGINT) AS launch_id
        FROM _collective_marks
        UNION ALL
        SELECT trace_id, track_id, CAST(NULL AS BIGINT), ts_ns, end_ns, 1, launch_id FROM launches
    )
),
marked AS (
    SELECT n.trace_id, n.launch_id, m.name
    FROM nested n
    JOIN _collective_marks m ON m.trace_id = n.trace_id AND m.event_id = n.mark_id
    WHERE n.launch_id IS NOT NULL
),
cores AS (
    SELECT
        trace_id, device,
        CASE
            WHEN NOT regexp_like(name, '(?i)amd|instinct|radeon|gfx|intel|mtia')
                AND warp_size IS DISTINCT FROM 64
            THEN 10 * compute_major + compute_minor END AS capability
    FROM _device_properties
),
evident AS (
    SELECT
        n.*, m.name AS mark, o.class AS operator_class, c.capability,
        coalesce(regexp_like(o.types, 'half'), false) AS has_half,
        coalesce(regexp_like(o.types, 'bfloat16'), false) AS has_bfloat,
        coalesce(regexp_like(o.types, 'float8'), false) AS has_float8,
        coalesce(regexp_like(o.types, '"(float|double|complex[^"]*)"'), false) AS has_wide,
        CASE
            WHEN n.kind = 'memcpy' OR n.kind = 'memset' THEN n.kind
            WHEN n.collective_name IS NOT NULL THEN 'communication'
            WHEN n.name_class IS NOT NULL THEN n.name_class
            WHEN m.name IS NOT NULL THEN 'communication'
            ELSE coalesce(o.class, 'unclassified')
        END AS class
    FROM named n
    LEFT JOIN operators o
        ON o.trace_id = n.trace_id
            AND o.event_id = n.op_id
            AND n.kind = 'kernel'
            AND n.name_unit = 'unclear'
    LEFT JOIN marked m
        ON m.trace_id = n.trace_id
            AND m.launch_id = n.launch_id
            AND n.kind = 'kernel'
            AND n.name_class IS NULL
    LEFT JOIN cores c ON c.trace_id = n.trace_id AND c.device = n.device
),
judged AS (
    SELECT
        *,
        class NOT IN ('gemm', 'conv', 'attention', 'recurrent_ssm', 'unclassified')
            AND name_unit <> 'yes' AS is_other,
        class IN ('gemm', 'conv', 'attention') AND NOT has_wide
            AND (
                has_half
                AND capability >= 70
                OR has_bfloat
                AND capability >= 80
                OR has_float8
                AND capability >= 89
            ) AS is_narrow,
        class IN ('gemm', 'conv', 'attention')
            AND has_wide
            AND NOT (has_half OR has_bfloat OR has_float8)
            AND capability < 80 AS is_wide
    FROM evident
)
SELECT
    trace_id, event_id, kind, name, device, stream, step, launch_id, op_id, ts_ns, dur_ns, end_ns,
    class,
    CASE
        WHEN kind <> 'kernel' THEN 'category'
        WHEN collective_name IS NOT NULL THEN 'arguments'
        WHEN name_class IS NOT NULL THEN 'name'
        WHEN mark IS NOT NULL THEN 'mark'
        WHEN operator_class IS NOT NULL THEN 'operator'
    END AS class_evidence,
    CASE
        WHEN class = 'communication'
            THEN coalesce(
                classify('collective', collective_name),
                name_collective, classify('collective', mark)
            )
    END AS collective,
    CASE
        WHEN is_other THEN 'no'
        WHEN capability < 70 THEN 'no'
        WHEN name_unit <> 'unclear' AND name_class IS NOT NULL THEN name_unit
        WHEN is_narrow THEN 'yes'
        WHEN is_wide THEN 'no'
        ELSE 'unclear'
    END AS matrix_unit,
    CASE
        WHEN is_other THEN 'class'
        WHEN capability < 70 THEN 'device'
        WHEN name_unit <> 'unclear' AND name_class IS NOT NULL THEN 'name'
        WHEN is_narrow OR is_wide THEN 'operator'
    END AS matrix_unit_evidence,
    library, precision
FROM judged
