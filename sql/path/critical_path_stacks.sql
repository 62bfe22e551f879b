-- The pieces of critical paths with their stacks: time on the path, one row per piece.
--
-- Device work has the stack of its launch, host work its own stack. Waits have the stack of the
-- work that waited and a last frame for their kind, such as [launch]. Where a thread recorded
-- nothing, the stack is the thread and [host_gap]. `tracesql flamegraph -c "SELECT stack, path_ns
-- FROM critical_path_stacks WHERE window_id = 0"` draws the path of the whole trace.
--
-- Source: critical_path, event_stacks and kernel_stacks.
-- Example: SELECT stack_leaf(stack) AS leaf, sum(path_ns) AS path_ns FROM critical_path_stacks
--   WHERE window_id = 0 GROUP BY leaf ORDER BY path_ns DESC LIMIT 5
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column window_id BIGINT number 0 for the whole trace, else the number of the step mark from 1.
-- @column step BIGINT id N of ProfilerStep#N; NULL for the whole trace.
-- @column thread VARCHAR text Name of the thread, else its id; NULL for streams.
-- @column device BIGINT id Device; NULL for threads.
-- @column stream BIGINT id Stream; NULL for threads.
-- @column kind VARCHAR text As in critical_path.
-- @column path_ns BIGINT ns Time on the path.
-- @column stack VARCHAR[] list Frames, root first.
WITH stacks AS (
    -- One list of stacks, because a second join would copy the lists that the first one found.
    SELECT trace_id, event_id, stack FROM kernel_stacks
    UNION ALL
    SELECT e.trace_id, e.event_id, e.stack
    FROM event_stacks e
    LEFT ANTI JOIN kernels k ON k.trace_id = e.trace_id AND k.event_id = e.event_id
),
pieces AS (
    SELECT
        p.*,
        coalesce(s.stack, make_array(coalesce(p.thread, 'unknown'))) AS known,
        p.kind IN ('compute', 'communication', 'copy', 'operator', 'runtime_call', 'python')
            AS is_work
    FROM critical_path p
    LEFT JOIN stacks s ON s.trace_id = p.trace_id AND s.event_id = p.event_id
)
SELECT
    trace_id, rank, window_id, step, thread, device, stream, kind, dur_ns AS path_ns,
    CASE WHEN is_work THEN known ELSE array_append(known, concat('[', kind, ']')) END AS stack
FROM pieces
