-- Operators by the list of kernels below them: calls, host time, device time of each list.
--
-- One row per name of an operator and list of the kernels, copies and fills that a call and all
-- calls inside it launched, in the order of their start. Calls that launch nothing or more than
-- operator_kernels_max activities are left out. Lists differ where an operator chooses other
-- kernels for other shapes, or launches additional ones, such as copies. Calls nest, so that times
-- of different operators do not add up.
--
-- Source: get_frequent_cuda_kernel_sequences of Holistic Trace Analysis, which takes one operator;
--   hta_kernel_sequences has its own numbers.
-- Example: SELECT name, calls, kernels, device_ns, kernel_names FROM operator_kernels
--   ORDER BY device_ns DESC LIMIT 5
-- Holds: kernels >= 1 AND steps <= calls
-- Range: sum host_ns, device_ns
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column name VARCHAR text Name of the operator.
-- @column kernels BIGINT count Activities that a call launches.
-- @column calls BIGINT count Calls that launch exactly this list.
-- @column calls_pct DOUBLE pct The same as percent of the operator's calls with a list.
-- @column steps BIGINT count Steps in which they are; 0 outside steps.
-- @column host_ns BIGINT ns Sum of the calls' durations.
-- @column device_ns BIGINT ns Sum of the activities' durations.
-- @column first_event_id BIGINT id The first of the calls (events.event_id).
-- @column kernel_names VARCHAR text Short names of the activities, joined by " -> ".
WITH names AS (
    SELECT
        trace_id, name,
        short_name(name) AS short,
        row_number() OVER (PARTITION BY trace_id ORDER BY name) AS name_id
    FROM (SELECT DISTINCT trace_id, name FROM kernels)
),
launched AS (
    SELECT
        k.trace_id, l.pre,
        l.pre + 1 AS next_pre,
        k.event_id, k.ts_ns,
        greatest(k.dur_ns, 0) AS dur_ns,
        n.name_id
    FROM kernels k
    JOIN events l ON l.trace_id = k.trace_id AND l.event_id = k.launch_id
    JOIN names n ON n.trace_id = k.trace_id AND n.name = k.name
    WHERE k.kind IN ('kernel', 'memcpy', 'memset') AND k.ts_ns IS NOT NULL AND k.dur_ns IS NOT NULL
),
calls AS (
    SELECT
        trace_id, pre,
        post + 1 AS next_pre,
        event_id, step, name,
        greatest(dur_ns, 0) AS dur_ns
    FROM events
    WHERE cat IN ('cpu_op', 'Operator', 'operator') AND ph IN ('X', 'B') AND dur_ns IS NOT NULL
        AND post > pre AND name IS NOT NULL AND NOT starts_with(name, 'ProfilerStep#')
),
pairs AS (
    SELECT
        trace_id, a_event_id, a_name, a_step, a_dur_ns, b_name_id, b_dur_ns,
        row_number() OVER (
            PARTITION BY trace_id, a_event_id ORDER BY b_ts_ns, b_event_id
        ) AS place
    FROM interval_intersect(
        (SELECT * FROM calls), (SELECT * FROM launched),
        by => trace_id, start => pre, end => next_pre
    )
),
-- A list of numbers that hold place and name: it is sorted after the fact, because array_agg in an
-- order is slow for many groups.
lists AS (
    SELECT
        trace_id, a_event_id AS event_id,
        max(a_name) AS name,
        max(a_step) AS step,
        max(a_dur_ns) AS host_ns,
        count(*) AS kernels,
        sum(b_dur_ns) AS device_ns,
        array_to_string(array_sort(array_agg(place * 4294967296 + b_name_id)), ' ') AS list
    FROM pairs
    GROUP BY trace_id, a_event_id
    HAVING count(*) <= setting_int('operator_kernels_max')
),
groups AS (
    SELECT
        trace_id, name, kernels, list,
        count(*) AS calls,
        count(DISTINCT step) AS steps,
        sum(host_ns) AS host_ns,
        sum(device_ns) AS device_ns,
        min(event_id) AS first_event_id
    FROM lists
    GROUP BY trace_id, name, kernels, list
),
texts AS (
    SELECT
        p.trace_id, p.a_event_id AS event_id,
        array_to_string(array_agg(n.short ORDER BY p.place), ' -> ') AS kernel_names
    FROM groups g
    JOIN pairs p ON p.trace_id = g.trace_id AND p.a_event_id = g.first_event_id
    JOIN names n ON n.trace_id = p.trace_id AND n.name_id = p.b_name_id
    GROUP BY p.trace_id, p.a_event_id
)
SELECT
    g.trace_id, t.rank, g.name, g.kernels, g.calls,
    100.0 * g.calls / sum(g.calls) OVER (PARTITION BY g.trace_id, g.name) AS calls_pct,
    g.steps, g.host_ns, g.device_ns, g.first_event_id, x.kernel_names
FROM groups g
JOIN traces t ON t.trace_id = g.trace_id
JOIN texts x ON x.trace_id = g.trace_id AND x.event_id = g.first_event_id
