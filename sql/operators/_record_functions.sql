-- Host rows of PyTorch's own table: operators, annotations and runtime calls, nested by time on
-- their thread, with device work.
--
-- A row that is the only one inside a row of the same name is combined with it: call_id is the
-- outermost of them, and figures named call_… are sums. Rows of length zero enclose no others.
-- PyTorch counts collectives of gloo as asynchronous, without self time. If Python frames have
-- CallFrom (PyTorch 2.15), PyTorch also subtracts frames directly inside a row from the row's self
-- time. Earlier versions do not.
-- @scope trace
WITH launched AS (
    SELECT trace_id, launch_id, sum(dur_ns) AS device_ns
    FROM kernels
    WHERE launch_id IS NOT NULL AND kind IN ('kernel', 'memcpy', 'memset')
    GROUP BY trace_id, launch_id
),
items AS (
    SELECT
        e.trace_id, e.event_id, e.track_id, e.name, e.ts_ns,
        greatest(e.dur_ns, 0) AS dur_ns,
        greatest(e.end_ns, e.ts_ns) AS end_ns,
        e.input_dims,
        w.device_ns, m.cpu_bytes, m.device_bytes, m.inside_cpu_bytes, m.inside_device_bytes,
        CASE
            WHEN starts_with(e.name, 'gloo:') THEN 0
            WHEN f.trace_id IS NOT NULL THEN e.self_ns
        END AS self_ns,
        CASE
            WHEN e.cat IN ('cpu_op', 'user_annotation', 'Operator', 'operator') THEN 0
            ELSE 1
        END AS is_launch
    FROM events e
    LEFT JOIN launched w ON w.trace_id = e.trace_id AND w.launch_id = e.event_id
    LEFT JOIN _counted_frames f ON f.trace_id = e.trace_id
    LEFT JOIN _event_memory m ON m.trace_id = e.trace_id AND m.event_id = e.event_id
    WHERE e.ph IN ('X', 'B') AND e.dur_ns IS NOT NULL
        AND e.cat IN (
            'cpu_op', 'user_annotation', 'Operator', 'operator',
            'cuda_runtime', 'cuda_driver', 'Runtime', 'runtime', 'hip_runtime', 'hip_driver',
            'xpu_runtime', 'xpu_driver',
            'mtia_runtime', 'glow_runtime', 'privateuse1_runtime', 'privateuse1_driver')
        AND e.name NOT IN (
            'profiler::_record_function_enter',
            'profiler::_record_function_enter_new',
            'profiler::_record_function_exit',
            'aten::is_leaf', 'aten::output_nr', 'aten::_version')
),
nested AS (
    SELECT *,
        nest_parent(CASE WHEN ts_ns = end_ns THEN -1 - event_id ELSE event_id END, ts_ns, end_ns)
            OVER (
                PARTITION BY trace_id, track_id ORDER BY ts_ns, end_ns DESC, is_launch, event_id
            ) AS around
    FROM items
),
linked AS (
    SELECT *,
        CASE
            WHEN around < 0 THEN nullif(
                last_known(
                    CASE
                        WHEN ts_ns = end_ns AND coalesce(around, 0) >= 0 THEN coalesce(around, -1)
                    END
                )
                    OVER (
                        PARTITION BY trace_id, track_id
                        ORDER BY ts_ns, end_ns DESC, is_launch, event_id
                    ),
                    -1
                )
            ELSE around
        END AS parent_id
    FROM nested
),
owned AS (
    SELECT *,
        children_sum(event_id, parent_id, 1) OVER track AS children,
        children_sum(event_id, parent_id, dur_ns) OVER track AS inside_ns,
        cpu_bytes - coalesce(
            inside_cpu_bytes, children_sum(event_id, parent_id, cpu_bytes) OVER track
        ) AS self_cpu_bytes,
        device_bytes - coalesce(
            inside_device_bytes, children_sum(event_id, parent_id, device_bytes) OVER track
        ) AS self_device_bytes,
        parent_value(event_id, parent_id, name) OVER track AS parent_name,
        subtree_sum(event_id, parent_id, device_ns) OVER track AS device_total_ns
    FROM linked
    WINDOW track AS (
        PARTITION BY trace_id, track_id ORDER BY ts_ns, end_ns DESC, is_launch, event_id
    )
),
launching AS (
    SELECT *,
        children_sum(
            event_id, parent_id, CASE WHEN is_launch = 1 THEN device_total_ns END
        ) OVER track AS own_device_ns,
        parent_name = name
            AND parent_value(event_id, parent_id, children) OVER track = 1 AS is_merged
    FROM owned
    WINDOW track AS (
        PARTITION BY trace_id, track_id ORDER BY ts_ns, end_ns DESC, is_launch, event_id
    )
),
merged AS (
    SELECT *,
        last_known(CASE WHEN NOT coalesce(is_merged, false) THEN event_id END)
            OVER (
                PARTITION BY trace_id, track_id ORDER BY ts_ns, end_ns DESC, is_launch, event_id
            ) AS call_id
    FROM launching
)
SELECT
    trace_id, event_id, track_id, name, ts_ns, end_ns, dur_ns, input_dims, is_launch, call_id,
    CASE WHEN is_launch = 1 THEN 0 ELSE device_total_ns END AS device_total_ns,
    children_sum(
        event_id, call_id, coalesce(self_ns, dur_ns - inside_ns)
    ) OVER track AS call_self_ns,
    children_sum(
        event_id, call_id, CASE WHEN is_launch = 0 THEN own_device_ns END
    ) OVER track AS call_device_ns,
    cpu_bytes, device_bytes,
    CASE
        WHEN cpu_bytes IS NOT NULL
            THEN children_sum(
                event_id, call_id, CASE WHEN NOT starts_with(name, 'gloo:') THEN self_cpu_bytes END
            ) OVER track
    END
        AS call_self_cpu_bytes,
    CASE
        WHEN device_bytes IS NOT NULL
            THEN children_sum(
                event_id, call_id,
                CASE WHEN NOT starts_with(name, 'gloo:') THEN self_device_bytes END
            ) OVER track
    END
        AS call_self_device_bytes
FROM merged
WINDOW track AS (PARTITION BY trace_id, track_id ORDER BY ts_ns, end_ns DESC, is_launch, event_id)
