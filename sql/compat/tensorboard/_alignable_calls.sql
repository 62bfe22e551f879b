-- Calls of the first thread of each trace, as torch-tb-profiler 0.4.3 compares them: those within
-- steps, or all calls if the trace has no steps.
--
-- The steps themselves are left out, so that the calls of all steps form one list. key identifies
-- calls that can be paired: modules, data loading, optimizer steps and inner steps, by name.
-- @scope trace
WITH threads AS (
    SELECT
        trace_id, track_id,
        row_number() OVER (PARTITION BY trace_id ORDER BY min(ts_ns), min(event_id)) AS place
    FROM _host_calls
    WHERE kind <> 'launch'
    GROUP BY trace_id, track_id
),
linked AS (
    SELECT
        h.trace_id, h.event_id, h.track_id, h.kind, h.name, h.ts_ns, h.end_ns, h.dur_ns,
        h.is_listed, h.owner_id, h.call_id,
        h.call_self_ns, h.device_total_ns, h.call_device_ns,
        parent_value(h.event_id, h.owner_id, h.call_id) OVER track AS owner_call_id,
        last_known(CASE WHEN h.owner_id IS NULL THEN h.event_id END) OVER track AS outermost_id
    FROM _host_tree h
    JOIN threads t ON t.trace_id = h.trace_id AND t.track_id = h.track_id AND t.place = 1
    WHERE h.is_launch = 0
    WINDOW track AS (
        PARTITION BY h.trace_id, h.track_id ORDER BY h.ts_ns, h.end_ns DESC, h.event_id
    )
),
placed AS (
    SELECT *,
        parent_value(event_id, outermost_id, kind) OVER track AS outermost_kind,
        bool_or(owner_id IS NULL AND kind = 'step') OVER (PARTITION BY trace_id, track_id)
            AS has_steps
    FROM linked
    WINDOW track AS (PARTITION BY trace_id, track_id ORDER BY ts_ns, end_ns DESC, event_id)
)
SELECT
    trace_id, event_id, name, ts_ns, end_ns, dur_ns, is_listed, call_self_ns, device_total_ns,
    call_device_ns,
    CASE WHEN NOT has_steps OR owner_id <> outermost_id THEN owner_call_id END AS parent_id,
    CASE
        WHEN kind IN ('step', 'module', 'dataloader', 'optimizer') THEN kind || ' ' || name
    END AS key
FROM placed
WHERE call_id = event_id AND (NOT has_steps OR (outermost_kind = 'step' AND owner_id IS NOT NULL))
