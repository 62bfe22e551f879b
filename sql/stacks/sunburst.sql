-- Rows of a sunburst or icicle chart of the call graph: id, parent, label and values.
--
-- The row root holds everything; the value of a row is that of its children and its own
-- (branchvalues "total" in Plotly). Device values are the device time launched inside.
--
-- Source: the sunburst of PRISM's training profiler.
-- Example: SELECT id, parent, label, host_ns FROM sunburst ORDER BY host_ns DESC LIMIT 5
-- Holds: host_self_ns <= host_ns AND device_self_ns <= device_ns
-- Range: sum host_ns, host_self_ns, device_ns, device_self_ns
-- Parts: host_self_ns BY trace_id OF call_graph.host_self_ns
-- Parts: device_self_ns BY trace_id OF call_graph.device_self_ns
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column id VARCHAR text Id of the row: root, or root and the path.
-- @column parent VARCHAR text Id of the row around; empty for root.
-- @column label VARCHAR text Name of the call.
-- @column depth BIGINT count 0 for root.
-- @column host_ns BIGINT ns Time of the calls on the host.
-- @column host_self_ns BIGINT ns The part that is in no child.
-- @column device_ns BIGINT ns Device time launched by the calls and all inside.
-- @column device_self_ns BIGINT ns The part that is in no child.
-- The outermost calls count for root too.
WITH twice AS (
    SELECT *, unnest(CASE WHEN depth = 0 THEN make_array(0, 1) ELSE make_array(0) END) AS is_root
    FROM call_graph
)
SELECT
    trace_id,
    CASE WHEN is_root = 1 THEN 'root' ELSE concat('root;', path) END AS id,
    CASE
        WHEN is_root = 1 THEN ''
        WHEN parent_path IS NULL THEN 'root'
        ELSE concat('root;', parent_path)
    END AS parent,
    CASE WHEN is_root = 1 THEN 'root' ELSE name END AS label,
    CASE WHEN is_root = 1 THEN 0 ELSE depth + 1 END AS depth,
    sum(host_total_ns) AS host_ns,
    sum(CASE WHEN is_root = 1 THEN 0 ELSE host_self_ns END) AS host_self_ns,
    sum(device_total_ns) AS device_ns,
    sum(CASE WHEN is_root = 1 THEN 0 ELSE device_self_ns END) AS device_self_ns
FROM twice
GROUP BY 1, 2, 3, 4, 5
