-- Time ranges with their role in the step time breakdown.
--
-- The roles are: 0 kernel, 1 copy, 2 fill, 3 communication, 4 runtime call, 5 data loading, 6 other
-- work on the host, 7 operators that only pass work to a collective (c10d::…, record_param_comms).
-- Classes of kernels are those of kernel_classes. Host marks of collectives also count as
-- communication if the host exchanges data in them: gloo, mpi and ucc. Those of nccl and xccl only
-- launch kernels, so they count only if the trace has no device work. Work on the host within other
-- such work is left out, and so are ranges of length zero, because they do not change any union.
-- @scope trace
WITH owned AS (
    SELECT
        trace_id, event_id, kind, ts_ns, end_ns, is_launch,
        parent_value(
            event_id, owner_id,
            CASE WHEN kind IN ('operator', 'optimizer', 'python') THEN role ELSE 0 END
        )
            OVER (
                PARTITION BY trace_id, track_id ORDER BY ts_ns, end_ns DESC, is_launch, event_id
            ) AS owner_role,
        role
    FROM (
        SELECT
            *,
            CASE
                WHEN starts_with(name, 'c10d::') OR name = 'record_param_comms' THEN 7
                ELSE 6
            END AS role
        FROM _host_links
    )
),
host AS (
    SELECT *
    FROM (
        SELECT
            trace_id, event_id, is_launch, ts_ns, end_ns, coalesce(owner_role, 0) AS owner_role,
            CASE WHEN is_launch = 1 THEN 4 WHEN kind = 'dataloader' THEN 5 ELSE role END AS role
        FROM owned
        WHERE kind NOT IN ('step', 'module', 'collective')
    )
    WHERE NOT (role = owner_role AND role IN (6, 7))
),
device AS (
    SELECT trace_id, launch_id, class, ts_ns, end_ns
    FROM kernel_classes
    WHERE dur_ns > 0 AND class <> 'sync'
),
-- A launch has a row for each of its device activities. An activity whose launch is not in the
-- trace has a row without a launch.
pairs AS (
    SELECT
        coalesce(h.trace_id, d.trace_id) AS trace_id,
        h.ts_ns AS host_start,
        h.end_ns AS host_end,
        h.role,
        d.ts_ns AS device_start, d.end_ns AS device_end,
        CASE
            WHEN d.class = 'memcpy' THEN 1
            WHEN d.class = 'memset' THEN 2
            WHEN d.class = 'communication' THEN 3
            ELSE 0
        END AS device_role
    FROM host h
    FULL JOIN device d ON d.trace_id = h.trace_id AND d.launch_id = h.event_id AND h.is_launch = 1
),
ranges AS (
    SELECT
        trace_id,
        unnest([role, device_role]) AS role,
        unnest([host_start, device_start]) AS start_ns,
        unnest([host_end, device_end]) AS end_ns
    FROM pairs
    UNION ALL
    SELECT trace_id, 3, ts_ns, end_ns FROM _host_communication
)
SELECT trace_id, role, start_ns, end_ns FROM ranges WHERE end_ns > start_ns
