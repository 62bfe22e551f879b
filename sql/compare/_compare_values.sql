-- Calls and time that comparison compares: one row per side, trace, step (NULL outside of steps),
-- dimension, key and measure.
-- @scope store
WITH device AS (
    SELECT
        s.side, w.trace_id, s.rank, s.run, w.step, w.kind, w.class, w.name,
        coalesce(w.owner_name, '(unattributed)') AS operator,
        count(*) AS calls,
        sum(w.dur_ns) AS ns
    FROM _launched_work w
    JOIN compare_sides s ON s.trace_id = w.trace_id
    GROUP BY
        s.side, w.trace_id, s.rank, s.run, w.step, w.kind, w.class, w.name,
        coalesce(w.owner_name, '(unattributed)')
),
operator AS (
    SELECT
        s.side, o.trace_id, s.rank, s.run, o.step, o.name,
        'host' AS measure,
        count(*) AS calls,
        sum(o.host_self_ns) AS ns
    FROM operator_calls o
    JOIN compare_sides s ON s.trace_id = o.trace_id
    GROUP BY s.side, o.trace_id, s.rank, s.run, o.step, o.name
    UNION ALL
    SELECT side, trace_id, rank, run, step, operator, 'device', sum(calls), sum(ns)
    FROM device
    GROUP BY side, trace_id, rank, run, step, operator
    UNION ALL
    SELECT
        s.side, m.trace_id, s.rank, s.run, NULL, m.name, 'host', count(*),
        sum(m.end_ns - m.start_ns)
    FROM mllm_operations m
    JOIN compare_sides s ON s.trace_id = m.trace_id
    GROUP BY s.side, m.trace_id, s.rank, s.run, m.name
),
module AS (
    SELECT
        s.side, m.trace_id, s.rank, s.run, e.step,
        CASE WHEN m.path = '' THEN '(outside of modules)' ELSE m.path END AS path,
        CASE WHEN m.is_launch = 1 THEN 'device' ELSE 'host' END AS measure,
        sum(CASE WHEN m.is_launch = 1 THEN m.activities ELSE 1 END) AS calls,
        sum(CASE WHEN m.is_launch = 1 THEN m.device_ns ELSE m.exclusive_ns END) AS ns
    FROM _module_calls m
    JOIN compare_sides s ON s.trace_id = m.trace_id
    JOIN events e ON e.trace_id = m.trace_id AND e.event_id = m.event_id
    GROUP BY s.side, m.trace_id, s.rank, s.run, e.step, m.path, m.is_launch
),
step AS (
    SELECT
        s.side, t.trace_id, s.rank, s.run, t.step,
        unnest(
            make_array(
                'total', 'kernel', 'memcpy', 'memset', 'communication', 'runtime', 'dataloader',
                'cpu_exec', 'other'
            )
        ) AS part,
        unnest(make_array(
            t.total_ns, t.kernel_ns, t.memcpy_ns, t.memset_ns, t.communication_ns, t.runtime_ns,
            t.dataloader_ns, t.cpu_exec_ns, t.other_ns
        )) AS ns
    FROM step_time t
    JOIN compare_sides s ON s.trace_id = t.trace_id
)
SELECT 'op' AS dimension, side, trace_id, rank, run, step, name AS key, measure, calls, ns
FROM operator
UNION ALL
SELECT 'family', side, trace_id, rank, run, step, family, measure, sum(calls), sum(ns)
FROM (
    SELECT
        *,
        coalesce(
            nullif(classify('op_category', name), 'record_param_comms'),
            classify('operator_family', name),
            CASE WHEN name = '(unattributed)' THEN name ELSE 'other' END) AS family
    FROM operator
)
GROUP BY side, trace_id, rank, run, step, family, measure
UNION ALL
SELECT 'kernel', side, trace_id, rank, run, step, name, 'device', sum(calls), sum(ns)
FROM device
WHERE kind = 'kernel'
GROUP BY side, trace_id, rank, run, step, name
UNION ALL
SELECT 'kernel_type', side, trace_id, rank, run, step, type, 'device', sum(calls), sum(ns)
FROM (
    SELECT
        *,
        CASE
            WHEN class IN ('communication', 'memcpy', 'memset') THEN class
            ELSE 'computation'
        END AS type
    FROM device
)
GROUP BY side, trace_id, rank, run, step, type
UNION ALL
SELECT 'class', side, trace_id, rank, run, step, class, 'device', sum(calls), sum(ns)
FROM device
GROUP BY side, trace_id, rank, run, step, class
UNION ALL
SELECT 'module', side, trace_id, rank, run, step, path, measure, calls, ns FROM module
UNION ALL
SELECT 'step', side, trace_id, rank, run, step, 'step time', 'time', 1, ns
FROM step
WHERE part = 'total'
UNION ALL
SELECT
    'step', s.side, s.trace_id, s.rank, s.run, t.step, 'step on the host', 'host', 1,
    max(t.end_ns) - min(t.start_ns)
FROM steps t
JOIN compare_sides s ON s.trace_id = t.trace_id
GROUP BY s.side, s.trace_id, s.rank, s.run, t.step
UNION ALL
SELECT
    'category', side, trace_id, rank, run, step, part, 'time',
    CASE WHEN ns > 0 THEN 1 ELSE 0 END,
    ns
FROM step
WHERE part <> 'total'
