-- Periods of _idle_stretches divided by cause, which is the reason why the device had nothing to
-- run.
--
-- Before the next launch call the host is late. This time is data_loading_ns while the host fetches
-- a batch. The rest is synchronisation_ns if the host was waiting for the device when the period
-- began and returned before that launch, or else host_late_ns. launch_call_ns is the launch call
-- itself. queued_ns is the time between the call and the start on the device. A launch call that is
-- a copy which blocks the host counts as synchronisation_ns instead. A period without a known
-- launch is unlinked_ns.
-- @scope trace
WITH stretches AS (
    SELECT *, launch_ns - start_ns AS before_launch_ns FROM _idle_stretches
),
host AS (
    SELECT trace_id, event_id, ts_ns, end_ns, 0 AS role
    FROM events
    WHERE ph IN ('X', 'B')
        AND dur_ns > 0
        AND cat IN ('cpu_op', 'user_annotation', 'Operator', 'operator')
        AND starts_with(name, 'enumerate(Data')
        AND (
            starts_with(name, 'enumerate(DataLoader)#') OR starts_with(name, 'enumerate(DataPipe)#')
        )
    UNION ALL
    SELECT trace_id, event_id, ts_ns, end_ns, 1 FROM _waiting_calls WHERE end_ns > ts_ns
),
meetings AS (
    SELECT
        trace_id,
        a_next_id AS next_id,
        b_role AS role,
        ts_ns, end_ns,
        b_ts_ns <= a_ts_ns AND b_end_ns <= a_end_ns AS releases
    FROM interval_intersect(
        (
            SELECT trace_id, next_id, start_ns AS ts_ns, launch_ns AS end_ns
            FROM stretches
            WHERE before_launch_ns > 0
        ),
        (SELECT trace_id, role, ts_ns, end_ns FROM host),
        by => trace_id)
),
met AS (
    SELECT
        trace_id, next_id,
        interval_union_len(CASE WHEN role = 0 THEN ts_ns END, end_ns) AS loading_ns,
        bool_or(role = 1 AND releases) AS is_released
    FROM meetings
    GROUP BY trace_id, next_id
)
SELECT
    s.trace_id, s.device, s.start_ns, s.end_ns,
    s.end_ns - s.start_ns AS idle_ns,
    s.next_id, s.launch_id,
    coalesce(m.loading_ns, 0) AS data_loading_ns,
    CASE WHEN m.is_released THEN s.before_launch_ns - coalesce(m.loading_ns, 0) ELSE 0 END
        + CASE WHEN w.event_id IS NOT NULL THEN coalesce(s.ready_ns - s.launch_ns, 0) ELSE 0 END
            AS synchronisation_ns,
    CASE
        WHEN coalesce(m.is_released, false) THEN 0
        ELSE coalesce(s.before_launch_ns, 0) - coalesce(m.loading_ns, 0)
    END AS host_late_ns,
    CASE
        WHEN w.event_id IS NULL THEN coalesce(s.ready_ns - s.launch_ns, 0)
        ELSE 0
    END AS launch_call_ns,
    coalesce(s.end_ns - s.ready_ns, 0) AS queued_ns,
    CASE WHEN s.launch_ns IS NULL THEN s.end_ns - s.start_ns ELSE 0 END AS unlinked_ns
FROM stretches s
LEFT JOIN met m ON m.trace_id = s.trace_id AND m.next_id = s.next_id
LEFT JOIN _waiting_calls w ON w.trace_id = s.trace_id AND w.event_id = s.launch_id
