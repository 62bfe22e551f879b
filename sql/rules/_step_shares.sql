-- The use of time in the steps of each trace: sums over all steps, from _step_roles.
--
-- Times named exposed_ count only while nothing of higher rank runs. The ranks are: computation,
-- copies, communication, runtime calls, waits for the device, data loading. However, communication
-- is exposed whenever no computation runs, and in traces without device work, operators count as
-- computation. runtime_ns includes waits, and exposed_runtime_ns does not. device_computation_ns is
-- the time of computation on the device. no_communication_ns is all time without communication.
-- start_ns and end_ns are the start of the first step and the end of the last. unclassified_ns is
-- the part of computation in kernels that could not be classified. exposed_communication_max_ns is
-- the exposed communication if all of those were communication. host_steps counts the steps of the
-- host, including those that _steps leaves out at the end. span describes total_ns in a sentence,
-- for denominator_name in findings. It is NULL if there are steps.
-- @scope trace
WITH counted AS (
    SELECT
        trace_id, count(*) AS steps, bool_or(is_marked) AS is_marked, min(start_ns) AS start_ns,
        max(end_ns) AS end_ns
    FROM _steps
    GROUP BY trace_id
),
on_host AS (
    SELECT trace_id, count(*) AS host_steps, bool_or(is_device_window) AS is_device_window
    FROM _host_steps
    GROUP BY trace_id
)
SELECT
    r.trace_id, c.steps, h.host_steps, c.is_marked, h.is_device_window, c.start_ns, c.end_ns,
    CASE
        WHEN c.is_marked THEN 'the steps'
        WHEN h.is_device_window THEN 'the time from the first to the last device work'
        ELSE 'the time from the first operator to the end of all and of their device work'
    END AS span,
    CASE
        WHEN h.is_device_window THEN 'from the first to the last device work, ns'
        WHEN NOT c.is_marked
            THEN 'from the first operator to the end of all and of their device work, ns'
    END AS denominator_name,
    CAST(sum(r.len_ns) AS BIGINT) AS total_ns,
    coalesce(sum(r.len_ns) FILTER (WHERE r.mask & 513 > 0), 0) AS device_computation_ns,
    coalesce(sum(r.len_ns) FILTER (WHERE r.mask & 8 = 0), 0) AS no_communication_ns,
    coalesce(sum(r.len_ns) FILTER (WHERE r.mask & 8 > 0), 0) AS communication_ns,
    coalesce(sum(r.len_ns) FILTER (WHERE r.mask & 8 > 0 AND r.mask & 577 = 0), 0)
        AS exposed_communication_ns,
    coalesce(sum(r.len_ns) FILTER (WHERE r.mask & 520 > 0 AND r.mask & 65 = 0), 0)
        AS exposed_communication_max_ns,
    coalesce(sum(r.len_ns) FILTER (WHERE r.mask & 512 > 0), 0) AS unclassified_ns,
    coalesce(sum(r.len_ns) FILTER (WHERE r.mask & 144 > 0), 0) AS runtime_ns,
    coalesce(sum(r.len_ns) FILTER (WHERE r.mask & 16 > 0 AND r.mask & 523 = 0), 0)
        AS exposed_runtime_ns,
    coalesce(sum(r.len_ns) FILTER (WHERE r.mask & 128 > 0 AND r.mask & 539 = 0), 0)
        AS exposed_wait_ns,
    coalesce(sum(r.len_ns) FILTER (WHERE r.mask & 32 > 0), 0) AS data_loading_ns,
    coalesce(sum(r.len_ns) FILTER (WHERE r.mask & 32 > 0 AND r.mask & 667 = 0), 0)
        AS exposed_data_loading_ns
FROM _step_roles r
JOIN counted c ON c.trace_id = r.trace_id
JOIN on_host h ON h.trace_id = r.trace_id
GROUP BY
    r.trace_id, c.steps, h.host_steps, c.is_marked, h.is_device_window, c.start_ns, c.end_ns
