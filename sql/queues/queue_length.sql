-- Number of launched activities that have not begun, over time, for each stream: one row per
-- change.
--
-- A call with device work adds one for each kernel, copy and fill that it launched (a CUDA graph
-- all of its nodes) at the start of the call, and each takes one away when it begins on the device.
-- Work whose recorded start is before its call counts as beginning at the call. At equal times
-- launches come first. Work whose launch was not found does not count; queue_length_summary states
-- how much that is. Calls of the runtime, the driver and HIP count alike. The length stays the same
-- for length_ns.
--
-- Source: the queue length of Holistic Trace Analysis; hta_queue_length has its own numbers.
-- Example: SELECT device, stream, max(length) AS longest FROM queue_length GROUP BY device, stream
--   ORDER BY device, stream
-- Holds: length >= 0 AND (length_ns IS NULL OR length_ns >= 0)
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column device BIGINT id Device; NULL where none was written.
-- @column stream BIGINT id Stream; NULL where none was written.
-- @column step BIGINT id Step of the launch; NULL outside steps.
-- @column ts_ns BIGINT ns Time of the change.
-- @column change VARCHAR text launch or start.
-- @column event_id BIGINT id The activity that was launched or began (events.event_id).
-- @column launch_id BIGINT id The call that launched it (events.event_id).
-- @column length BIGINT count Activities of the stream that are launched and have not begun, after
--   the change.
-- @column length_ns BIGINT ns Time to the next change on the stream; NULL for the last one.
WITH launched AS (
    SELECT
        k.trace_id, k.device, k.stream, k.step, k.event_id, k.launch_id,
        l.ts_ns AS launch_ns,
        greatest(k.ts_ns, l.ts_ns) AS start_ns
    FROM kernels k
    JOIN events l ON l.trace_id = k.trace_id AND l.event_id = k.launch_id
    WHERE k.kind IN ('kernel', 'memcpy', 'memset') AND k.ts_ns IS NOT NULL AND l.ts_ns IS NOT NULL
),
changes AS (
    SELECT
        trace_id, device, stream, step, event_id, launch_id,
        launch_ns AS ts_ns,
        1 AS added
    FROM launched
    UNION ALL
    SELECT trace_id, device, stream, step, event_id, launch_id, start_ns, -1 FROM launched
)
SELECT
    c.trace_id, t.rank, c.device, c.stream, c.step, c.ts_ns,
    CASE WHEN c.added = 1 THEN 'launch' ELSE 'start' END AS change,
    c.event_id, c.launch_id,
    running_sum(c.added) OVER on_stream AS length,
    lead(c.ts_ns) OVER on_stream - c.ts_ns AS length_ns
FROM changes c
JOIN traces t ON t.trace_id = c.trace_id
WINDOW on_stream AS (
    PARTITION BY c.trace_id, c.device, c.stream ORDER BY c.ts_ns, c.added DESC, c.event_id
)
