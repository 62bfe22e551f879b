-- The operator and the modules around each instant and thread at which memory was allocated or
-- freed.
--
-- The operator is the innermost call around the instant, if that call is an operator. Memory that a
-- module's own Python code allocates has no operator. operators are the names of all enclosing
-- operators, starting with the outermost. Threads are distinguished by the text of their ids,
-- because PyTorch 1.8 writes the same id as a number for memory and as a text for operators, which
-- makes two tracks.
-- @scope trace
WITH threads AS (
    SELECT
        trace_id, track_id,
        min(track_id) OVER (PARTITION BY trace_id, pid_text, tid_text) AS thread_id
    FROM tracks
),
instants AS (
    SELECT DISTINCT e.trace_id, e.track_id, e.ts_ns
    FROM memory m
    JOIN events e ON e.trace_id = m.trace_id AND e.event_id = m.event_id
    WHERE e.name = '[memory]'
),
items AS (
    SELECT trace_id, track_id, event_id, name, ts_ns, end_ns, kind, is_operator
    FROM _host_calls
    WHERE kind NOT IN ('launch', 'module') AND end_ns > ts_ns
    UNION ALL
    SELECT trace_id, track_id, event_id, name, ts_ns, end_ns, 'module' AS kind, false AS is_operator
    FROM _module_frames
    WHERE end_ns > ts_ns
    UNION ALL
    SELECT trace_id, track_id, NULL, NULL, ts_ns, ts_ns AS end_ns, 'memory' AS kind, NULL
    FROM instants
),
placed AS (
    SELECT i.*, t.thread_id
    FROM items i
    JOIN threads t ON t.trace_id = i.trace_id AND t.track_id = i.track_id
),
nested AS (
    SELECT
        trace_id, track_id, ts_ns, kind,
        nest_parent(event_id, ts_ns, end_ns) OVER thread AS node_id,
        nest_parent(is_operator, ts_ns, end_ns) OVER thread AS is_operator,
        stack(name, ts_ns, end_ns) OVER thread AS nodes,
        stack(
            name, CASE WHEN kind = 'memory' OR is_operator THEN ts_ns END, end_ns
        ) OVER thread AS operators,
        stack(
            name, CASE WHEN kind IN ('module', 'memory') THEN ts_ns END, end_ns
        ) OVER thread AS modules
    FROM placed
    WINDOW thread AS (PARTITION BY trace_id, thread_id ORDER BY ts_ns, end_ns DESC, event_id)
)
SELECT
    trace_id, track_id, ts_ns,
    CASE WHEN is_operator THEN node_id END AS op_id,
    CASE WHEN is_operator THEN nodes[-2] END AS op_name,
    CASE WHEN is_operator THEN nodes[-3] END AS caller_name,
    CASE WHEN is_operator THEN array_pop_back(operators) END AS operators,
    CASE
        WHEN contains(modules[-2], '.') THEN modules[-2]
        ELSE nullif(array_to_string(array_pop_back(modules), '.'), '')
    END AS module_path
FROM nested
WHERE kind = 'memory'
