-- Calls in which the host waits for the device, each with the frame that called it. Copies of a few
-- bytes to the host are included, pageable or not.
--
-- python_frame is the innermost frame that a user can change, which means that it belongs neither
-- to PyTorch nor to Python itself (python_frame in name_rules).
-- @scope trace
WITH copies AS (
    SELECT
        trace_id, launch_id,
        sum(bytes) AS bytes,
        bool_or(contains(name, 'DtoH') OR contains(name, 'DeviceToHost'))
            AND sum(bytes) <= setting_int('tiny_copy_bytes') AS is_tiny
    FROM kernels
    WHERE kind = 'memcpy' AND launch_id IS NOT NULL
    GROUP BY trace_id, launch_id
),
calls AS (
    SELECT
        l.trace_id, l.event_id, l.track_id, l.step, l.name, l.ts_ns, l.end_ns, l.dur_ns, c.bytes,
        coalesce(c.is_tiny, false) AS is_tiny,
        coalesce(w.is_sync, false) AS is_sync, coalesce(w.is_pageable, false) AS is_pageable
    FROM _launches l
    LEFT JOIN _waiting_calls w ON w.trace_id = l.trace_id AND w.event_id = l.event_id
    LEFT JOIN copies c ON c.trace_id = l.trace_id AND c.launch_id = l.event_id
    WHERE w.event_id IS NOT NULL OR c.is_tiny
),
frames AS (
    SELECT name
    FROM (SELECT DISTINCT name FROM events WHERE cat = 'python_function' AND contains(name, '.py('))
    WHERE classify('python_frame', name) IS NULL
),
items AS (
    SELECT
        trace_id, track_id, event_id, step, ts_ns, end_ns, dur_ns, name, bytes, is_tiny, is_sync,
        is_pageable,
        3 AS place
    FROM calls
    UNION ALL
    SELECT
        trace_id, track_id, event_id, NULL, ts_ns, end_ns, dur_ns, name, NULL, NULL, NULL, NULL, 2
    FROM events
    WHERE dur_ns > 0
        AND ph IN ('X', 'B')
        AND NOT starts_with(name, 'ProfilerStep#')
        AND cat IN ('cpu_op', 'Operator', 'operator')
    UNION ALL
    SELECT
        trace_id, track_id, event_id, NULL, ts_ns, end_ns, dur_ns, name, NULL, NULL, NULL, NULL, 1
    FROM events
    WHERE dur_ns > 0
        AND ph IN ('X', 'B')
        AND cat = 'python_function'
        AND name IN (SELECT name FROM frames)
),
nested AS (
    SELECT
        *,
        stack(name, CASE WHEN place >= 2 THEN ts_ns END, end_ns) OVER track AS operators,
        nest_parent(name, CASE WHEN place <> 2 THEN ts_ns END, end_ns) OVER track AS python_frame,
        nest_parent(place, CASE WHEN place = 3 THEN ts_ns END, end_ns) OVER track AS outer_call
    FROM items
    WINDOW track AS (PARTITION BY trace_id, track_id ORDER BY ts_ns, end_ns DESC, place, event_id)
)
SELECT
    trace_id, track_id, event_id, step, name, ts_ns, end_ns, dur_ns, bytes, is_tiny, is_pageable,
    CASE WHEN is_tiny THEN 'tiny_copy' WHEN is_sync THEN 'sync' ELSE 'copy' END AS kind,
    operators[-2] AS op_name,
    CASE WHEN array_length(operators) > 1 THEN operators[1] END AS outer_op_name,
    python_frame
FROM nested
WHERE place = 3 AND outer_call IS NULL
