-- Each call that owns device work, by device and step: its device time, and what its kernels are.
--
-- device_ns is the length of the union of its activities, activity_ns the sum of their durations.
-- Work outside of operators has a row for each name of a kernel.
-- @scope trace
SELECT
    trace_id, device, step, owner_id, place,
    CASE WHEN owner_id IS NULL THEN name END AS kernel_name,
    min(launch_id) AS launch_id,
    count(*) AS activities,
    CASE
        WHEN owner_id IS NULL OR count(*) = 1 OR count(ts_ns) < count(*) THEN sum(dur_ns)
        ELSE interval_union_len(ts_ns, end_ns)
    END AS device_ns,
    sum(dur_ns) AS activity_ns,
    sum(CASE WHEN kind = 'kernel' THEN dur_ns ELSE 0 END) AS kernel_ns,
    sum(CASE WHEN regexp_like(name, '(?i)split_?k.*reduc|reduc.*split_?k') THEN dur_ns ELSE 0 END)
        AS split_ns,
    bool_or(class IN ('gemm', 'conv', 'attention')
        AND regexp_like(name, '(?i)tf32|xf32|s1688|s16816')) AS has_tf32
FROM _owned_work
GROUP BY
    trace_id, device, step, owner_id, place, CASE WHEN owner_id IS NULL THEN name END
