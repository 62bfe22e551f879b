-- The critical path of each step and of the whole trace: at each instant, the work or the wait that
-- held up the end.
--
-- The pieces of a window follow one another without gaps, so their lengths add up to the window.
-- The path is found backwards from the last end in the window. Device work waited for whatever
-- ended last before it: the work before it in its stream, work of another stream that its stream
-- was told to wait for, or its launch. A call that waits for the device leads to the work that it
-- waited for. Host work leads to the work before it on its thread, and where a thread had nothing
-- to do, to the thread of the forward or backward pass that worked meanwhile. window_id is 0 for
-- the whole trace and the number of the step mark from 1 for steps. A step lasts until its mark
-- ends or the last device work that it launched, whichever is later, so that windows of steps can
-- overlap.
--
-- Source: `tracesql docs critical_paths`.
-- Example: SELECT position, kind, name, dur_ns FROM critical_path WHERE step = 11 ORDER BY position
--   LIMIT 5
-- Holds: dur_ns = end_ns - start_ns
-- Holds: dur_ns > 0
-- Parts: dur_ns BY trace_id, window_id OF critical_path_windows.window_ns
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column window_id BIGINT number 0 for the whole trace, else the number of the step mark from 1.
-- @column step BIGINT id N of ProfilerStep#N; NULL for the whole trace.
-- @column position BIGINT number Number of the piece in its window, from 0, in the order of time.
-- @column start_ns BIGINT ns Start of the piece.
-- @column end_ns BIGINT ns End of the piece.
-- @column dur_ns BIGINT ns end_ns - start_ns.
-- @column kind VARCHAR text compute, communication, copy, launch, operator, runtime_call, python,
--   data_loading, host_gap, synchronisation, stream_gap, event_delay, handoff or unknown.
-- @column event_id BIGINT id Event that takes the time or waits (events.event_id); NULL where a
--   thread recorded nothing.
-- @column name VARCHAR text Name of this event.
-- @column op_id BIGINT id The operator: of device work the one that launched it, of a runtime call
--   the one around it; NULL outside of operators.
-- @column op_name VARCHAR text Name of the operator.
-- @column track_id BIGINT id Thread or stream (tracks.track_id).
-- @column thread VARCHAR text Name of the thread, else its id; NULL for streams.
-- @column device BIGINT id Device; NULL for threads.
-- @column stream BIGINT id Stream; NULL for threads.
-- @column cause_id BIGINT id What the piece waited for: the launch, or the work that ended at
--   start_ns (events.event_id); NULL for work.
-- @column cause_name VARCHAR text Name of this event.
-- @column is_inferred BOOLEAN flag Whether the wait follows from times alone, because the trace
--   does not record it.
WITH pieces AS (
    SELECT
        p.trace_id, p.window_id, p.position, p.start_ns, p.end_ns, p.kind, p.event_id, p.cause_id,
        p.lane, p.is_inferred,
        e.name, e.cat, e.parent_id, c.name AS cause_name,
        k.kind AS work, k.op_id AS launched_by, n.class
    FROM _path_pieces p
    LEFT JOIN events e ON e.trace_id = p.trace_id AND e.event_id = p.event_id
    LEFT JOIN events c ON c.trace_id = p.trace_id AND c.event_id = p.cause_id
    LEFT JOIN kernels k ON k.trace_id = p.trace_id AND k.event_id = p.event_id
    LEFT JOIN kernel_classes n ON n.trace_id = p.trace_id AND n.event_id = p.event_id
),
operators AS (
    SELECT
        p.*,
        CASE
            WHEN p.work IS NOT NULL THEN p.launched_by
            WHEN p.cat IN ('cpu_op', 'Operator', 'operator') THEN p.event_id
            ELSE p.parent_id
        END AS op_id
    FROM pieces p
)
SELECT
    p.trace_id, r.rank, p.window_id, w.step, p.position, p.start_ns, p.end_ns,
    p.end_ns - p.start_ns AS dur_ns,
    CASE
        WHEN p.kind = 'device' AND p.work IN ('memcpy', 'memset') THEN 'copy'
        WHEN p.kind = 'device' AND p.class = 'communication' THEN 'communication'
        WHEN p.kind = 'device' THEN 'compute'
        WHEN p.kind NOT IN ('host', 'host_gap') THEN p.kind
        WHEN p.cat = 'python_function' THEN 'python'
        WHEN p.kind = 'host_gap' THEN 'host_gap'
        WHEN p.cat IN ('cpu_op', 'Operator', 'operator') THEN 'operator'
        ELSE 'runtime_call'
    END AS kind,
    p.event_id, p.name,
    o.event_id AS op_id, o.name AS op_name,
    p.lane AS track_id,
    CASE
        WHEN t.kind = 'cpu_thread'
            THEN coalesce(t.thread_name, concat('thread ', coalesce(t.tid_text, '?')))
    END AS thread,
    t.device, t.stream, p.cause_id, p.cause_name, p.is_inferred
FROM operators p
JOIN traces r ON r.trace_id = p.trace_id
JOIN _path_windows w ON w.trace_id = p.trace_id AND w.window_id = p.window_id
LEFT JOIN tracks t ON t.trace_id = p.trace_id AND t.track_id = p.lane
LEFT JOIN events o
    ON o.trace_id = p.trace_id AND o.event_id = p.op_id
        AND o.cat IN ('cpu_op', 'Operator', 'operator')
