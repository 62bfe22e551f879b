-- Calls in which the host waits for the device, each with what it was called from.
WITH copies AS (
    SELECT
        trace_id, launch_id,
        sum(bytes) AS bytes,
        bool_or(contains(name, 'Pageable') AND contains(name, 'DtoH')) AS is_pageable,
        bool_or(contains(name, 'DtoH') OR contains(name, 'DeviceToHost')) AND sum(bytes) <= setting_int('tiny_copy_bytes') AS is_tiny
    FROM kernels
    WHERE kind = 'memcpy' AND launch_id IS NOT NULL
    GROUP BY trace_id, launch_id
),
calls AS (
    SELECT
        e.trace_id, e.event_id, e.track_id, e.step, e.name, e.ts_ns, e.end_ns, e.dur_ns, c.bytes, coalesce(c.is_tiny, false) AS is_tiny,
        regexp_like(e.name, '^(cuda|hip|cu|hsa_)[A-Za-z_]*(Device|Stream|Event|Ctx|Context)Synchronize') AS is_sync,
        regexp_like(e.name, '^(cuda|hip|cu)(Memcpy|Memset)') AND NOT contains(e.name, 'Async') OR coalesce(c.is_pageable, false) AS is_copy
    FROM events e
    LEFT JOIN copies c ON c.trace_id = e.trace_id AND c.launch_id = e.event_id
    WHERE e.dur_ns >= 0
        AND e.cat IN ('cuda_runtime', 'cuda_driver', 'Runtime', 'runtime', 'hip_runtime', 'hip_driver')
        AND (contains(e.name, 'Synchronize') OR contains(e.name, 'Memcpy') OR contains(e.name, 'Memset'))
),
items AS (
    SELECT trace_id, track_id, event_id, step, ts_ns, end_ns, dur_ns, name, bytes, is_tiny, is_sync, 3 AS place
    FROM calls
    WHERE is_sync OR is_copy OR is_tiny
    UNION ALL
    SELECT
        trace_id, track_id, event_id, NULL, ts_ns, end_ns, dur_ns, name, NULL, NULL, NULL,
        CASE cat WHEN 'python_function' THEN 1 ELSE 2 END
    FROM events
    WHERE dur_ns > 0 AND ph IN ('X', 'B') AND NOT starts_with(name, 'ProfilerStep#') AND (cat IN ('cpu_op', 'Operator', 'operator') OR cat = 'python_function' AND contains(name, '.py('))
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
    trace_id, track_id, event_id, step, name, ts_ns, end_ns, dur_ns, bytes, is_tiny,
    CASE WHEN is_tiny THEN 'tiny_copy' WHEN is_sync THEN 'sync' ELSE 'copy' END AS kind,
    operators[-2] AS op_name,
    CASE WHEN array_length(operators) > 1 THEN operators[1] END AS outer_op_name,
    python_frame
FROM nested
WHERE place = 3 AND outer_call IS NULL
