-- Host calls with the calls and device work that belong to them, by the rules of torch-tb-profiler
-- 0.4.3.
--
-- Like _host_tree, but the launches of an operator are lost if its only node is an operator of the
-- same name, and calls that were cut are left out. eligible_nodes counts all eligible nodes below a
-- call. eligible_reached shows whether the call itself is eligible: only operators become eligible
-- through the nodes in them, unlike modules, steps, marks and Python calls.
-- @scope trace
WITH owned AS (
    SELECT *,
        children_sum(
            event_id, owner_id, CASE WHEN is_launch = 0 AND NOT is_cut THEN 1 ELSE 0 END
        ) OVER trace AS nodes,
        children_sum(
            event_id, owner_id, CASE WHEN is_launch = 0 AND NOT is_cut THEN dur_us ELSE 0.0 END
        ) OVER trace AS nodes_us,
        children_sum(
            event_id, owner_id, CASE WHEN is_launch = 1 THEN dur_us ELSE 0.0 END
        ) OVER trace AS launches_us,
        children_sum(event_id, owner_id, device_us) OVER trace AS launched_us,
        children_sum(event_id, owner_id, kernel_us) OVER trace AS launched_kernel_us,
        children_sum(event_id, owner_id, tensor_core_us) OVER trace AS launched_tensor_core_us,
        parent_value(event_id, owner_id, name) OVER trace AS owner_name,
        parent_value(event_id, owner_id, CAST(is_operator AS BIGINT)) OVER trace
            AS owner_is_operator
    FROM _tb_links
    WINDOW trace AS (
        PARTITION BY trace_id ORDER BY tid, start_tick, end_tick DESC, is_launch, event_id
    )
),
marked AS (
    SELECT *,
        coalesce(
            is_launch = 0
                AND NOT is_cut
                AND is_operator
                AND owner_is_operator = 1
                AND owner_name = name
                AND parent_value(event_id, owner_id, nodes) OVER trace = 1,
            false) AS is_merged
    FROM owned
    WINDOW trace AS (
        PARTITION BY trace_id ORDER BY tid, start_tick, end_tick DESC, is_launch, event_id
    )
),
own AS (
    SELECT *,
        CASE WHEN is_launch = 1 OR loses THEN 0.0 ELSE launched_us END AS own_device_us,
        CASE WHEN is_launch = 1 OR loses THEN 0.0 ELSE launched_kernel_us END AS own_kernel_us,
        CASE
            WHEN is_launch = 1 OR loses THEN 0.0
            ELSE launched_tensor_core_us
        END AS own_tensor_core_us,
        CASE WHEN is_launch = 1 OR loses THEN 0.0 ELSE launches_us END AS own_launches_us
    FROM (
        SELECT
            *,
            children_sum(event_id, owner_id, CASE WHEN is_merged THEN 1 ELSE 0 END) OVER trace
                > 0 AS loses
        FROM marked
        WINDOW trace AS (
            PARTITION BY trace_id ORDER BY tid, start_tick, end_tick DESC, is_launch, event_id
        )
    )
),
eligible AS (
    SELECT *,
        CASE
            WHEN is_launch = 0 AND (is_named_eligible OR (is_operator AND own_tensor_core_us > 0))
                THEN 1
            ELSE 0
        END AS own_eligible,
        last_known(CASE WHEN is_launch = 0 AND NOT is_cut AND NOT is_merged THEN event_id END)
            OVER (
                PARTITION BY trace_id ORDER BY tid, start_tick, end_tick DESC, is_launch, event_id
            ) AS call_id
    FROM own
)
SELECT
    *,
    subtree_sum(event_id, owner_id, own_device_us) OVER trace AS device_total_us,
    subtree_sum(event_id, owner_id, own_tensor_core_us) OVER trace AS tensor_core_total_us,
    subtree_sum(event_id, owner_id, own_eligible) OVER trace AS eligible_nodes,
    subtree_sum(
        event_id, CASE WHEN owner_is_operator = 1 THEN owner_id END, own_eligible
    ) OVER trace AS eligible_reached,
    children_sum(
        event_id, call_id,
        CASE WHEN is_launch = 0 AND NOT is_cut THEN dur_us - nodes_us - own_launches_us END
    ) OVER trace AS call_self_us,
    children_sum(
        event_id, call_id, CASE WHEN is_launch = 0 AND NOT is_cut THEN own_device_us END
    ) OVER trace AS call_device_us,
    children_sum(
        event_id, call_id, CASE WHEN is_launch = 0 AND NOT is_cut THEN own_kernel_us END
    ) OVER trace AS call_kernel_us,
    children_sum(
        event_id, call_id, CASE WHEN is_launch = 0 AND NOT is_cut THEN own_tensor_core_us END
    ) OVER trace AS call_tensor_core_us,
    children_sum(
        event_id, call_id, CASE WHEN is_launch = 0 AND NOT is_cut THEN own_eligible END
    ) OVER trace AS call_eligible
FROM eligible
WHERE NOT is_cut
WINDOW trace AS (PARTITION BY trace_id ORDER BY tid, start_tick, end_tick DESC, is_launch, event_id)
