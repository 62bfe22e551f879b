-- Delays from operators to their kernels: from the start of a call to its first launch, and from a
-- launch to the start of the work.
--
-- One row per name of an operator that launches work itself; launches of operators inside belong to
-- these. The first delay is host overhead before any work is launched: Python, dispatch, shapes.
-- The second is the time of the launch call and in the queue. Calls without a launch are counted
-- only in calls. Work that begins before its launch has a delay of 0.
--
-- Source: get_aten_op_kernels_and_delay of Holistic Trace Analysis, which ignores threads and
--   copies; hta_aten_op_delays has its own numbers.
-- Example: SELECT name, launching_calls, median_launch_delay_ns, median_start_delay_ns
--   FROM operator_delays ORDER BY launching_calls DESC LIMIT 5
-- Holds: launching_calls <= calls AND launching_calls <= launches AND launches <= work
-- Holds: median_launch_delay_ns <= max_launch_delay_ns
-- Range: sum device_ns
-- Range: any mean_start_delay_ns, median_start_delay_ns, max_start_delay_ns; work can begin long
--   after the trace's last call.
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column name VARCHAR text Name of the operator.
-- @column calls BIGINT count Calls of the operator.
-- @column launching_calls BIGINT count Calls that launch work themselves.
-- @column launches BIGINT count Their launch calls.
-- @column work BIGINT count Activities that these launched.
-- @column mean_launch_delay_ns DOUBLE ns Mean time from the start of a call to its first launch.
-- @column median_launch_delay_ns DOUBLE ns Median.
-- @column max_launch_delay_ns BIGINT ns The longest.
-- @column mean_start_delay_ns DOUBLE ns Mean time from the start of a launch call to the start of
--   its work.
-- @column median_start_delay_ns DOUBLE ns Median.
-- @column max_start_delay_ns BIGINT ns The longest.
-- @column device_ns BIGINT ns Sum of the activities' durations.
WITH launched AS (
    SELECT
        k.trace_id, k.op_id, k.launch_id,
        l.ts_ns AS launch_ns,
        greatest(k.ts_ns - l.ts_ns, 0) AS start_delay_ns,
        greatest(k.dur_ns, 0) AS device_ns
    FROM kernels k
    JOIN events l ON l.trace_id = k.trace_id AND l.event_id = k.launch_id
    WHERE k.kind IN ('kernel', 'memcpy', 'memset') AND k.op_id IS NOT NULL AND k.ts_ns IS NOT NULL
        AND k.dur_ns IS NOT NULL
),
per_call AS (
    SELECT
        trace_id, op_id,
        min(launch_ns) AS first_launch_ns,
        count(DISTINCT launch_id) AS launches
    FROM launched
    GROUP BY trace_id, op_id
),
by_launch AS (
    SELECT
        o.trace_id, o.name,
        count(*) AS launching_calls,
        sum(c.launches) AS launches,
        avg(greatest(c.first_launch_ns - o.ts_ns, 0)) AS mean_launch_delay_ns,
        quantile(greatest(c.first_launch_ns - o.ts_ns, 0), 0.5) AS median_launch_delay_ns,
        max(greatest(c.first_launch_ns - o.ts_ns, 0)) AS max_launch_delay_ns
    FROM per_call c
    JOIN events o ON o.trace_id = c.trace_id AND o.event_id = c.op_id
    GROUP BY o.trace_id, o.name
),
by_work AS (
    SELECT
        o.trace_id, o.name,
        count(*) AS work,
        avg(l.start_delay_ns) AS mean_start_delay_ns,
        quantile(l.start_delay_ns, 0.5) AS median_start_delay_ns,
        max(l.start_delay_ns) AS max_start_delay_ns,
        sum(l.device_ns) AS device_ns
    FROM launched l
    JOIN events o ON o.trace_id = l.trace_id AND o.event_id = l.op_id
    GROUP BY o.trace_id, o.name
),
calls AS (
    SELECT e.trace_id, e.name, count(*) AS calls
    FROM events e
    JOIN by_launch b ON b.trace_id = e.trace_id AND b.name = e.name
    WHERE e.ph IN ('X', 'B') AND e.cat IN ('cpu_op', 'Operator', 'operator', 'user_annotation')
    GROUP BY e.trace_id, e.name
)
SELECT
    l.trace_id, t.rank, l.name,
    coalesce(c.calls, l.launching_calls) AS calls,
    l.launching_calls, l.launches, w.work,
    l.mean_launch_delay_ns, l.median_launch_delay_ns, l.max_launch_delay_ns,
    w.mean_start_delay_ns, w.median_start_delay_ns, w.max_start_delay_ns, w.device_ns
FROM by_launch l
JOIN by_work w ON w.trace_id = l.trace_id AND w.name = l.name
LEFT JOIN calls c ON c.trace_id = l.trace_id AND c.name = l.name
JOIN traces t ON t.trace_id = l.trace_id
