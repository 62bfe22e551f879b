-- Each call that owns device work, by device and step: its device time, properties of its kernels,
-- and the kind of the call (_call_kinds).
--
-- device_ns is the length of the union of its activities, activity_ns the sum of their durations.
-- Work outside of operators has a row for each name of a kernel, with kind_id -1. is_divided marks
-- calls with several rows, among which their figures cannot be divided. has_tf32 is 1 if one of the
-- kernels computes in TF32, else 0; has_transfer is 1 if the link to the host or to another device
-- is used.
-- @scope trace
WITH names AS (
    SELECT
        name,
        regexp_like(name, '(?i)split_?k.*reduc|reduc.*split_?k|postgsu') AS is_split,
        regexp_like(name, '(?i)nchw_?to_?nhwc|nhwc_?to_?nchw|^batched_transpose_') AS is_layout,
        regexp_like(name, '(?i)winograd|sp3asm') AS is_winograd,
        regexp_like(name, '(?i)tf32|xf32|s1688|s16816|^Cijk_.*_MX_') AS is_tf32,
        regexp_like(name, '(?i)^memcpy (HtoD|DtoH|PtoP)|^Copy(HostToDevice|DeviceToHost)')
            AS is_transfer
    FROM kernel_names
),
work AS (
    SELECT
        w.trace_id, w.device, w.step, w.owner_id, w.place, w.launch_id, w.ts_ns, w.end_ns, w.dur_ns,
        CASE WHEN w.owner_id IS NULL THEN w.name END AS kernel_name,
        CASE WHEN w.kind = 'kernel' THEN w.dur_ns ELSE 0 END AS kernel_ns,
        CASE WHEN n.is_split THEN w.dur_ns ELSE 0 END AS split_ns,
        CASE WHEN n.is_layout THEN w.dur_ns ELSE 0 END AS layout_ns,
        CASE WHEN n.is_winograd THEN w.dur_ns ELSE 0 END AS winograd_ns,
        n.is_tf32 AND w.class IN ('gemm', 'conv', 'attention') AS is_tf32,
        n.is_transfer
    FROM names n
    RIGHT JOIN _owned_work w ON w.name = n.name
),
owned AS (
    SELECT
        trace_id, device, step, owner_id,
        min(launch_id) AS launch_id,
        count(*) AS activities,
        CASE
            WHEN count(*) = 1 OR count(ts_ns) < count(*) THEN sum(dur_ns)
            ELSE interval_union_len(ts_ns, end_ns)
        END AS device_ns,
        sum(dur_ns) AS activity_ns,
        sum(kernel_ns) AS kernel_ns,
        sum(split_ns) AS split_ns,
        sum(layout_ns) AS layout_ns,
        sum(winograd_ns) AS winograd_ns,
        max(CASE WHEN is_tf32 THEN 1 ELSE 0 END) AS has_tf32,
        max(CASE WHEN is_transfer THEN 1 ELSE 0 END) AS has_transfer
    FROM work
    WHERE owner_id IS NOT NULL
    GROUP BY trace_id, device, step, owner_id
),
divided AS (
    SELECT trace_id, owner_id
    FROM owned
    GROUP BY trace_id, owner_id
    HAVING count(*) > 1
)
SELECT
    o.trace_id, o.device, o.step, o.owner_id, 'operator' AS place,
    CAST(NULL AS VARCHAR) AS kernel_name,
    o.launch_id, o.activities, o.device_ns, o.activity_ns, o.kernel_ns, o.split_ns, o.layout_ns,
    o.winograd_ns, o.has_tf32, o.has_transfer, k.kind_id, d.owner_id IS NOT NULL AS is_divided
FROM owned o
JOIN _kind_calls k ON k.trace_id = o.trace_id AND k.event_id = o.owner_id
LEFT JOIN divided d ON d.trace_id = o.trace_id AND d.owner_id = o.owner_id
UNION ALL
SELECT
    trace_id, device, step, CAST(NULL AS BIGINT), place, kernel_name, min(launch_id), count(*),
    sum(dur_ns), sum(dur_ns), sum(kernel_ns), sum(split_ns), sum(layout_ns), sum(winograd_ns),
    max(0), max(0), -1, false
FROM work
WHERE owner_id IS NULL
GROUP BY trace_id, device, step, place, kernel_name
