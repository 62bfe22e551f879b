-- Nodes of an execution trace with their events in the profiler's trace of the same run: exact
-- shapes, strides and values on one side, times and kernels on the other.
--
-- A node and an event belong together if they have one record function id and one name. The
-- profiler's trace is a Kineto trace in the same folder with a track of the same process. reason
-- says why a node has no event. It is the first of these that holds:
-- - no_id: the node has no record function id, as in traces without the attribute rf_id
-- - no_record_function: the node is a process, a thread or another part that no function made
-- - no_trace: the store has no such profiler's trace
-- - not_in_trace: the profiler did not record it, because it ran before or after, or because its
--   kind is not recorded
-- - name_differs: the event of that number has another name
--
-- kernels counts what the operator itself launched, not the operators that it calls.
--
-- Source: the link by record function id of mlcommons/chakra's trace linker.
-- Example: SELECT name, input_shapes, dur_ns, kernel_ns FROM et_events e JOIN et_nodes n
--   USING (trace_id, event_id, name) WHERE link <> 'none' ORDER BY dur_ns DESC LIMIT 5
--
-- @scope store
-- @column trace_id VARCHAR text The execution trace.
-- @column event_id BIGINT id The node (et_nodes.event_id).
-- @column node_id BIGINT id Number of the node.
-- @column parent_id BIGINT id The node that called it.
-- @column name VARCHAR text Name of the node.
-- @column rf_id BIGINT id Record function id; 0 for nodes that no function made, NULL if the node
--   records none.
-- @column profiler_trace_id VARCHAR text The profiler's trace; NULL if the store has none.
-- @column profiler_event_id BIGINT id The event there (events.event_id); NULL if none was found.
-- @column ts_ns BIGINT ns Its start, on the clock of that trace.
-- @column dur_ns BIGINT ns Its duration.
-- @column step BIGINT id Its step.
-- @column kernels BIGINT count Device activities that it launched itself.
-- @column kernel_ns BIGINT ns Their time.
-- @column link VARCHAR text record_function_id, external_id (older traces), or none.
-- @column reason VARCHAR text Why there is no event; NULL if there is one.
WITH found AS (
    SELECT
        n.trace_id, n.event_id, p.profiler_trace_id,
        f.event_id AS profiler_event_id, f.name = n.name AS is_same, f.ts_ns, f.dur_ns, f.step,
        f.link,
        row_number() OVER (
            PARTITION BY n.trace_id, n.event_id
            ORDER BY CASE WHEN f.name = n.name THEN 0 ELSE 1 END, f.event_id
        ) AS place
    FROM et_nodes n
    JOIN _et_pairs p ON p.trace_id = n.trace_id
    JOIN _numbered_functions f ON f.trace_id = p.profiler_trace_id AND f.rf_id = n.rf_id
    WHERE n.rf_id > 0
),
launched AS (
    SELECT trace_id, op_id, count(*) AS kernels, sum(dur_ns) AS kernel_ns
    FROM kernels
    WHERE op_id IS NOT NULL
    GROUP BY trace_id, op_id
)
SELECT
    n.trace_id, n.event_id, n.node_id, n.parent_id, n.name, n.rf_id,
    p.profiler_trace_id,
    CASE WHEN f.is_same THEN f.profiler_event_id END AS profiler_event_id,
    CASE WHEN f.is_same THEN f.ts_ns END AS ts_ns,
    CASE WHEN f.is_same THEN f.dur_ns END AS dur_ns,
    CASE WHEN f.is_same THEN f.step END AS step,
    CASE WHEN f.is_same THEN coalesce(k.kernels, 0) END AS kernels,
    CASE WHEN f.is_same THEN coalesce(k.kernel_ns, 0) END AS kernel_ns,
    CASE WHEN f.is_same THEN f.link ELSE 'none' END AS link,
    CASE
        WHEN f.is_same THEN NULL
        WHEN n.rf_id IS NULL THEN 'no_id'
        WHEN n.rf_id <= 0 THEN 'no_record_function'
        WHEN p.profiler_trace_id IS NULL THEN 'no_trace'
        WHEN f.event_id IS NULL THEN 'not_in_trace'
        ELSE 'name_differs'
    END AS reason
FROM et_nodes n
LEFT JOIN _et_pairs p ON p.trace_id = n.trace_id
LEFT JOIN found f ON f.trace_id = n.trace_id AND f.event_id = n.event_id AND f.place = 1
LEFT JOIN launched k ON k.trace_id = p.profiler_trace_id AND k.op_id = f.profiler_event_id
