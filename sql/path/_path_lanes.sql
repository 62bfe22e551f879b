-- Host threads of each trace with their team: threads of one process hand work to one another where
-- the process has a thread of the autograd engine. team is NULL for other threads.
--
-- Threads of a team are those with backward operators, those with the forward operators of these
-- (flows of kind fwdbwd), and those with step marks.
-- @scope trace
WITH members AS (
    SELECT e.trace_id, e.track_id, true AS is_backward
    FROM events e
    WHERE e.cat IN ('cpu_op', 'Operator', 'operator') AND starts_with(e.name, 'autograd::engine::')
    UNION
    SELECT e.trace_id, e.track_id, true
    FROM flows f
    JOIN events e ON e.trace_id = f.trace_id AND e.event_id = f.dst_event_id
    WHERE f.kind = 'fwdbwd'
    UNION
    SELECT e.trace_id, e.track_id, false
    FROM flows f
    JOIN events e ON e.trace_id = f.trace_id AND e.event_id = f.src_event_id
    WHERE f.kind = 'fwdbwd'
    UNION
    SELECT trace_id, track_id, false FROM steps
),
processes AS (
    SELECT
        t.trace_id, t.track_id,
        dense_rank() OVER (PARTITION BY t.trace_id ORDER BY t.pid_text) AS team,
        bool_or(m.is_backward) OVER (PARTITION BY t.trace_id, t.pid_text) AS has_backward
    FROM tracks t
    JOIN (SELECT DISTINCT trace_id, track_id, is_backward FROM members) m
        ON m.trace_id = t.trace_id AND m.track_id = t.track_id
    WHERE t.kind = 'cpu_thread'
)
SELECT DISTINCT trace_id, track_id, CAST(team AS BIGINT) AS team
FROM processes
WHERE has_backward
