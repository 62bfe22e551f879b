-- Requests of the host that make streams and calls wait, from the device's own rows about waits
-- (cuda_sync).
--
-- action is 0 for an event recorded on a stream, 1 for a stream that waits for an event, 2, 3 and 4
-- for a call that waits for an event, a stream and all streams. key is the correlation of the call
-- that recorded the event.
-- @scope trace
WITH waits AS (
    SELECT
        k.trace_id, k.track_id, k.device, k.launch_id,
        coalesce(k.sync_kind, k.name) AS sync_kind,
        coalesce(l.ts_ns, k.ts_ns) AS at_ns,
        k.wait_on_stream,
        CASE WHEN k.wait_on_event_record_correlation > 0 THEN k.wait_on_event_record_correlation END
            AS key
    FROM kernels k
    LEFT JOIN _launches l ON l.trace_id = k.trace_id AND l.event_id = k.launch_id
    WHERE k.kind = 'sync'
),
recorded AS (
    SELECT w.trace_id, w.key, min(t.track_id) AS lane
    FROM waits w
    JOIN tracks t
        ON t.trace_id = w.trace_id AND t.stream = w.wait_on_stream
            AND coalesce(t.device, -1) = coalesce(w.device, -1)
    WHERE w.key IS NOT NULL AND t.kind = 'gpu_stream'
    GROUP BY w.trace_id, w.key
)
SELECT
    r.trace_id, min(e.event_id) AS call_id, r.lane, r.key, min(e.ts_ns) AS at_ns, 0 AS action
FROM recorded r
JOIN events e ON e.trace_id = r.trace_id AND e.correlation = r.key
WHERE contains(e.name, 'EventRecord')
GROUP BY r.trace_id, r.lane, r.key
UNION ALL
SELECT
    trace_id, launch_id,
    CASE WHEN sync_kind IN ('Stream Wait Event', 'Stream Sync') THEN track_id END,
    key, at_ns,
    CASE sync_kind
        WHEN 'Stream Wait Event' THEN 1
        WHEN 'Event Sync' THEN 2
        WHEN 'Stream Sync' THEN 3
        WHEN 'Context Sync' THEN 4
    END
FROM waits
WHERE sync_kind = 'Context Sync' OR (sync_kind = 'Stream Sync')
    OR (sync_kind IN ('Stream Wait Event', 'Event Sync') AND key IS NOT NULL)
