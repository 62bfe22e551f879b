-- Records that had not completed when the flight recorder was dumped: collectives, sends and
-- receives, with where they were scheduled.
--
-- waited_ns goes to the last thing that the dump records. The watchdog sees states late, so an
-- operation may have gone further than its state says, by up to the interval at which it looks.
--
-- Example: SELECT rank, group_name, name, state, site FROM flight_pending ORDER BY rank, event_id
--
-- @scope store
-- @column trace_id VARCHAR text The dump.
-- @column event_id BIGINT id The record (flight_records.event_id).
-- @column job VARCHAR text The job (flight_dumps.job).
-- @column rank BIGINT id Rank; NULL if not known.
-- @column group_name VARCHAR text Process group.
-- @column description VARCHAR text Its description; NULL if not recorded.
-- @column seq BIGINT id Number of the collective, or of the send or receive, in the group.
-- @column is_p2p BOOLEAN flag Whether it is a send or receive.
-- @column name VARCHAR text Name.
-- @column state VARCHAR text scheduled or started.
-- @column created_ns BIGINT ns Unix time at which it was scheduled.
-- @column waited_ns BIGINT ns From then to the last thing that the dump records.
-- @column timeout_ns BIGINT ns Its timeout.
-- @column site VARCHAR text The innermost frame of the program; NULL if stacks were not recorded.
-- @column stack VARCHAR[] list Frames, root first; NULL if not recorded.
SELECT
    r.trace_id, r.event_id, d.job, d.rank, r.group_name,
    r.group_description AS description,
    CASE WHEN r.is_p2p THEN r.p2p_seq ELSE r.collective_seq END AS seq,
    r.is_p2p, r.name, r.state, r.created_ns,
    d.end_ns - r.created_ns AS waited_ns,
    r.timeout_ns,
    coalesce(
        stack_leaf(array_remove_all(
            unfold_stack(regexp_replace(
                e.call_stack, '[^;]*(/torch/|-packages/|/lib/python3)[^;]*', '', 'g'
            )), ''
        )),
        stack_leaf(unfold_stack(e.call_stack))
    ) AS site,
    unfold_stack(e.call_stack) AS stack
FROM flight_records r
JOIN _flight_jobs d ON d.trace_id = r.trace_id
LEFT JOIN events e ON e.trace_id = r.trace_id AND e.event_id = r.event_id
WHERE r.state IS DISTINCT FROM 'completed'
