-- Host calls with the time of nodes and launches inside, their device work, and the call that
-- represents them in tables.
--
-- PyTorch wraps some operators in another call of the same name. If such a call is the only node in
-- an operator with its name, the two count as one: call_id is the outermost of them, and figures
-- named call_… are sums over them.
-- @scope trace
WITH owned AS (
    SELECT
        *,
        children_sum(event_id, owner_id, 1 - is_launch) OVER track AS nodes,
        children_sum(event_id, owner_id, dur_ns) OVER track AS inside_ns,
        children_sum(event_id, owner_id, device_ns) OVER track AS own_device_ns,
        children_sum(event_id, owner_id, kernel_ns) OVER track AS own_kernel_ns,
        children_sum(event_id, owner_id, tensor_core_ns) OVER track AS own_tensor_core_ns,
        subtree_sum(event_id, owner_id, device_ns) OVER track AS device_total_ns,
        subtree_sum(event_id, owner_id, tensor_core_ns) OVER track AS tensor_core_total_ns,
        parent_value(event_id, owner_id, name) OVER track AS owner_name,
        parent_value(event_id, owner_id, CAST(is_operator AS BIGINT)) OVER track
            AS owner_is_operator,
        min(ts_ns) OVER (PARTITION BY trace_id, track_id) AS track_start_ns
    FROM _host_links
    WINDOW track AS (
        PARTITION BY trace_id, track_id ORDER BY ts_ns, end_ns DESC, is_launch, event_id
    )
),
eligible AS (
    SELECT *,
        CASE
            WHEN is_launch = 0 AND (is_named_eligible OR (is_operator AND own_tensor_core_ns > 0))
                THEN 1
            ELSE 0
        END AS own_eligible,
        coalesce(
            is_launch = 0
                AND is_operator
                AND owner_is_operator = 1
                AND owner_name = name
                AND parent_value(event_id, owner_id, nodes) OVER track = 1,
            false) AS is_merged
    FROM owned
    WINDOW track AS (
        PARTITION BY trace_id, track_id ORDER BY ts_ns, end_ns DESC, is_launch, event_id
    )
),
merged AS (
    SELECT *,
        subtree_sum(event_id, owner_id, own_eligible) OVER track AS eligible_nodes,
        last_known(
            CASE WHEN is_launch = 0 AND NOT is_merged THEN event_id END
        ) OVER track AS call_id
    FROM eligible
    WINDOW track AS (
        PARTITION BY trace_id, track_id ORDER BY ts_ns, end_ns DESC, is_launch, event_id
    )
)
SELECT
    trace_id, event_id, track_id, step, kind, name, ts_ns, dur_ns, end_ns, input_dims, call_stack,
    is_launch, is_operator, is_listed, is_collective,
    owner_id, call_id, track_start_ns, device_ns, kernel_ns, tensor_core_ns, device_total_ns,
    tensor_core_total_ns, eligible_nodes,
    children_sum(
        event_id, call_id, CASE WHEN is_launch = 0 THEN dur_ns - inside_ns END
    ) OVER track AS call_self_ns,
    children_sum(
        event_id, call_id, CASE WHEN is_launch = 0 THEN own_device_ns END
    ) OVER track AS call_device_ns,
    children_sum(
        event_id, call_id, CASE WHEN is_launch = 0 THEN own_kernel_ns END
    ) OVER track AS call_kernel_ns,
    children_sum(
        event_id, call_id, CASE WHEN is_launch = 0 THEN own_tensor_core_ns END
    ) OVER track AS call_tensor_core_ns,
    children_sum(
        event_id, call_id, CASE WHEN is_launch = 0 THEN own_eligible END
    ) OVER track AS call_eligible
FROM merged
WINDOW track AS (PARTITION BY trace_id, track_id ORDER BY ts_ns, end_ns DESC, is_launch, event_id)
