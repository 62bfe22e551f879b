-- ATen operators by the kernels that they launch, with their delays, as Holistic Trace Analysis
-- 0.6.1 has them.
--
-- A launch belongs to the operator aten::* that began last of those whose time holds the call, on
-- whatever thread. Launches are calls whose names begin with cuda…LaunchKernel, cuLaunchKernel or
-- runFunction and that have device work; copies and HIP are left out. Both delays are those of the
-- first launch of each call of the operator. HTA fails if a launch has no kernel or several. Rows
-- are those that HTA keeps: whole microseconds, without the last step.
--
-- Source: get_aten_op_kernels_and_delay of HTA 0.6.1; operator_delays has all operators, launches
--   and threads apart.
-- Example: SELECT aten_op_name, occurrence_count, avg_aten_op_launch_delay_us
--   FROM hta_aten_op_delays ORDER BY occurrence_count DESC LIMIT 5
-- Range: any avg_aten_op_launch_delay_us, avg_runtime_delay_us; a delay can exceed the trace.
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column aten_op_name VARCHAR text Name of the operator.
-- @column kernel_sequence VARCHAR text Names of the kernels, joined by " -> ".
-- @column occurrence_count BIGINT count Calls of the operator that launch them.
-- @column avg_aten_op_launch_delay_us DOUBLE us Mean time from the start of the operator to that of
--   its first launch; HTA rounds it to three decimals.
-- @column avg_runtime_delay_us DOUBLE us Mean time from the start of that launch to the start of
--   its kernel; HTA rounds it to three decimals.
WITH items AS (
    SELECT
        trace_id, event_id, track_id, name, start_us,
        greatest(end_us, start_us) AS end_us,
        0 AS is_launch
    FROM _hta_rows
    WHERE starts_with(name, 'aten::')
    UNION ALL
    SELECT
        trace_id, event_id, track_id, name, start_us,
        greatest(end_us, start_us),
        1
    FROM _hta_rows
    WHERE (starts_with(name, 'cuda') AND contains(name, 'LaunchKernel'))
        OR starts_with(name, 'cuLaunchKernel')
        OR starts_with(name, 'runFunction')
),
nested AS (
    SELECT
        *,
        nest_parent(
            CASE WHEN is_launch = 1 THEN -1 - event_id ELSE event_id END, start_us, end_us
        ) OVER in_time AS around_id
    FROM items
    WINDOW in_time AS (PARTITION BY trace_id ORDER BY start_us, end_us DESC, is_launch, event_id)
),
owned AS (
    SELECT
        *,
        last_known(
            CASE WHEN is_launch = 1 AND coalesce(around_id, 0) >= 0 THEN coalesce(around_id, -1) END
        ) OVER in_time AS op_id
    FROM nested
    WINDOW in_time AS (PARTITION BY trace_id ORDER BY start_us, end_us DESC, is_launch, event_id)
),
names AS (
    SELECT trace_id, name, row_number() OVER (PARTITION BY trace_id ORDER BY name) AS name_id
    FROM (SELECT DISTINCT trace_id, name FROM _hta_work)
),
launched AS (
    SELECT
        o.trace_id, o.op_id,
        o.start_us AS launch_us,
        w.start_us AS kernel_us,
        n.name_id,
        row_number() OVER (PARTITION BY o.trace_id, o.op_id ORDER BY o.event_id) AS place
    FROM owned o
    JOIN _hta_work w ON w.trace_id = o.trace_id AND w.launch_id = o.event_id
    JOIN names n ON n.trace_id = w.trace_id AND n.name = w.name
    WHERE o.is_launch = 1 AND o.op_id >= 0
),
-- A list of numbers that hold place and name: it is sorted after the fact, because array_agg in an
-- order is slow for many groups.
calls AS (
    SELECT
        trace_id, op_id,
        array_to_string(array_sort(array_agg(place * 4294967296 + name_id)), ' ') AS list,
        max(CASE WHEN place = 1 THEN launch_us END) AS launch_us,
        max(CASE WHEN place = 1 THEN kernel_us - launch_us END) AS runtime_delay_us
    FROM launched
    GROUP BY trace_id, op_id
),
groups AS (
    SELECT
        c.trace_id, o.name, c.list,
        count(*) AS calls,
        avg(c.launch_us - o.start_us) AS launch_delay_us,
        avg(c.runtime_delay_us) AS runtime_delay_us,
        min(c.op_id) AS first_id
    FROM calls c
    JOIN items o ON o.trace_id = c.trace_id AND o.event_id = c.op_id AND o.is_launch = 0
    GROUP BY c.trace_id, o.name, c.list
),
texts AS (
    SELECT
        l.trace_id, l.op_id,
        array_to_string(array_agg(n.name ORDER BY l.place), ' -> ') AS kernel_sequence
    FROM groups g
    JOIN launched l ON l.trace_id = g.trace_id AND l.op_id = g.first_id
    JOIN names n ON n.trace_id = l.trace_id AND n.name_id = l.name_id
    GROUP BY l.trace_id, l.op_id
)
SELECT
    g.trace_id, t.rank,
    g.name AS aten_op_name,
    x.kernel_sequence,
    g.calls AS occurrence_count,
    g.launch_delay_us AS avg_aten_op_launch_delay_us,
    g.runtime_delay_us AS avg_runtime_delay_us
FROM groups g
JOIN traces t ON t.trace_id = g.trace_id
JOIN texts x ON x.trace_id = g.trace_id AND x.op_id = g.first_id
