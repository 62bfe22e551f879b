-- Host calls by their path from the outermost call, with self time and own device work.
--
-- Calls are steps, modules, operators, data loading, optimizers, collectives, runtime calls and
-- users' regions. Names that differ only by a number between runs are joined: steps, instances of
-- modules, and kinds of data loaders.
-- @scope trace
WITH launched AS (
    SELECT trace_id, launch_id, sum(dur_ns) AS device_ns
    FROM kernels
    WHERE launch_id IS NOT NULL AND kind IN ('kernel', 'memcpy', 'memset')
    GROUP BY trace_id, launch_id
),
calls AS (
    SELECT
        e.trace_id, e.track_id, e.event_id, e.ts_ns, e.end_ns, e.dur_ns,
        CASE
            WHEN starts_with(e.name, 'ProfilerStep#') THEN 'ProfilerStep*'
            WHEN starts_with(e.name, 'enumerate(DataLoader)#') THEN 'enumerate(DataLoader)'
            WHEN e.cat = 'python_function' THEN regexp_replace(e.name, '_[0-9]+$', '')
            ELSE coalesce(e.name, '(no name)')
        END AS name,
        coalesce(l.device_ns, 0) AS device_ns
    FROM events e
    LEFT JOIN launched l ON l.trace_id = e.trace_id AND l.launch_id = e.event_id
    WHERE e.ph IN ('X', 'B') AND e.dur_ns >= 0
        AND (e.cat IN (
                'cpu_op', 'user_annotation', 'Operator', 'operator', 'python',
                'cuda_runtime', 'cuda_driver', 'Runtime', 'runtime', 'hip_runtime', 'hip_driver',
                'xpu_runtime', 'xpu_driver',
                'mtia_runtime', 'glow_runtime', 'privateuse1_runtime', 'privateuse1_driver')
            OR e.cat = 'python_function' AND e.python_module_id IS NOT NULL)
),
nested AS (
    SELECT
        trace_id, track_id, name, dur_ns, device_ns,
        nest_self(ts_ns, end_ns) OVER track AS self_ns,
        stack_id(name, ts_ns, end_ns) OVER track AS stack_id,
        stack(name, ts_ns, end_ns) OVER track AS stack
    FROM calls
    WINDOW track AS (PARTITION BY trace_id, track_id ORDER BY ts_ns, end_ns DESC, event_id)
),
by_track AS (
    SELECT
        trace_id,
        first_value(stack) AS stack,
        count(*) AS calls,
        sum(dur_ns) AS total_ns,
        sum(self_ns) AS self_ns,
        sum(device_ns) AS device_ns
    FROM nested
    GROUP BY trace_id, track_id, stack_id
)
SELECT
    trace_id, fold_stack(stack) AS path, first_value(stack) AS stack,
    sum(calls) AS calls,
    sum(total_ns) AS total_ns,
    sum(self_ns) AS self_ns,
    sum(device_ns) AS device_ns
FROM by_track
GROUP BY trace_id, fold_stack(stack)
