-- Host calls with the call that owns them, and the device work of launches.
--
-- owner_id is the node that encloses a node, and the operator or collective mark that encloses a
-- launch. All calls except launches are nodes. A launch at the very end of an operator belongs to
-- it: ends count as part of operators here, which traces in whole microseconds need. Times are
-- doubled so that integers can express this (times more than 146 years from the base time are left
-- out). A launch within a launch has the owner of the outer one. Nodes of length zero own nothing:
-- several at one instant are siblings.
-- @scope trace
WITH launched AS (
    SELECT
        trace_id, launch_id,
        sum(dur_ns) AS device_ns,
        sum(CASE WHEN kind = 'kernel' THEN dur_ns ELSE 0 END) AS kernel_ns,
        sum(CASE WHEN uses_tensor_cores THEN dur_ns ELSE 0 END) AS tensor_core_ns
    FROM _device_work
    WHERE launch_id IS NOT NULL
    GROUP BY trace_id, launch_id
),
items AS (
    SELECT
        h.*, w.device_ns, w.kernel_ns, w.tensor_core_ns,
        h.kind <> 'launch'
            AND classify('tensor_core_eligible', h.name) IS NOT NULL AS is_named_eligible,
        CASE WHEN kind <> 'launch' THEN ts_ns END AS node_start,
        CASE WHEN kind <> 'launch' THEN end_ns END AS node_end,
        CASE
            WHEN (kind = 'launch' OR owns_launches)
                AND ts_ns > -4611686018427387904
                AND end_ns < 4611686018427387904
                THEN 2 * ts_ns
        END AS owner_start,
        CASE
            WHEN kind = 'launch' THEN 2 * end_ns
            WHEN owns_launches THEN 2 * end_ns + 1
        END AS owner_end
    FROM _host_calls h
    LEFT JOIN launched w ON w.trace_id = h.trace_id AND w.launch_id = h.event_id
),
nested AS (
    SELECT *,
        nest_parent(
            CASE WHEN ts_ns = end_ns THEN -1 - event_id ELSE event_id END, node_start, node_end
        ) OVER track AS node_id,
        nest_parent(
            CASE WHEN kind = 'launch' THEN -1 - event_id ELSE event_id END, owner_start, owner_end
        ) OVER track AS around
    FROM items
    WINDOW track AS (
        PARTITION BY trace_id, track_id ORDER BY ts_ns, end_ns DESC, is_launch, event_id
    )
),
inherited AS (
    SELECT *,
        last_known(
            CASE WHEN kind = 'launch' AND coalesce(around, 0) >= 0 THEN coalesce(around, -1) END
        ) OVER so_far AS launch_owner,
        last_known(
            CASE
                WHEN kind <> 'launch' AND ts_ns = end_ns AND coalesce(node_id, 0) >= 0
                    THEN coalesce(node_id, -1)
            END
        )
            OVER so_far AS empty_owner
    FROM nested
    WINDOW so_far AS (
        PARTITION BY trace_id, track_id ORDER BY ts_ns, end_ns DESC, is_launch, event_id
    )
)
SELECT
    trace_id, event_id, track_id, step, kind, name, ts_ns, dur_ns, end_ns, input_dims, call_stack,
    is_launch, is_operator, is_listed, is_collective, is_named_eligible,
    CASE
        WHEN kind = 'launch' THEN nullif(launch_owner, -1)
        WHEN node_id < 0 THEN nullif(empty_owner, -1)
        ELSE node_id
    END AS owner_id,
    device_ns, kernel_ns, tensor_core_ns
FROM inherited
