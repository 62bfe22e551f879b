-- Events of operators of compiled programs (HLO) in XPlane files, one row per call.
--
-- framework_path is the operator of the framework that it was compiled from: `name`, as GPUs have it,
-- else `tf_op`, without the type that follows a colon; NULL if neither is recorded.
-- @scope trace
WITH operators AS (
    SELECT
        e.trace_id, coalesce(e.device, k.device) AS device, e.name AS event_name, e.dur_ns, e.self_ns,
        json_as_text(e.args, 'hlo_op') AS hlo_op,
        json_as_text(e.args, 'hlo_module') AS module,
        json_as_text(e.args, 'program_id') AS program_id,
        json_as_text(e.args, 'hlo_category') AS category,
        coalesce(
            nullif(json_as_text(e.args, 'name'), ''),
            nullif(nullif(json_as_text(e.args, 'tf_op'), ''), 'XlaModule:')
        ) AS framework_op,
        coalesce(json_get_int(e.args, 'dur_ps'), e.dur_ns * 1000) AS dur_ps,
        json_get_int(e.args, 'device_duration_ps') AS device_ps,
        json_get_int(e.args, 'flops') AS flops,
        json_get_int(e.args, 'bytes_accessed') AS bytes_accessed
    FROM events e
    JOIN traces t ON t.trace_id = e.trace_id
    LEFT JOIN tracks k ON k.trace_id = e.trace_id AND k.track_id = e.track_id
    WHERE t.format = 'xplane'
        AND e.cat IN ('hlo', 'kernel', 'gpu_memcpy', 'gpu_memset', 'cpu_op')
        AND (e.cat = 'hlo' OR json_as_text(e.args, 'hlo_op') IS NOT NULL)
)
SELECT
    trace_id, device, module, program_id, category,
    coalesce(hlo_op, event_name) AS name,
    regexp_replace(framework_op, ':[^:/]*$', '') AS framework_path,
    dur_ns, self_ns, dur_ps, device_ps, flops, bytes_accessed
FROM operators
