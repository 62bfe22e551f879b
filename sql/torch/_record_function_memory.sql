-- Memory of rows of PyTorch's own table: what is allocated and freed while they run, on whatever thread, and without the rows directly inside.
--
-- Bytes are allocated less freed. A record at the very start or end of a row counts for it. Figures named call_… are sums over the rows that count as
-- one. Python frames directly inside a row are taken off where they are in times too (_record_functions). Records while nothing runs have a row without
-- event_id. Traces without records have no rows.
WITH records AS (
    SELECT
        trace_id, event_id, ts_ns,
        CASE WHEN device_type = 'cpu' THEN bytes ELSE 0 END AS cpu_bytes,
        CASE WHEN device_type <> 'cpu' THEN bytes ELSE 0 END AS device_bytes
    FROM memory
    WHERE bytes IS NOT NULL
),
traces_with AS (SELECT DISTINCT trace_id FROM records),
rows AS (
    SELECT r.trace_id, r.event_id, r.track_id, r.call_id, r.caller_id, r.name, r.ts_ns, r.end_ns, r.frames_are_counted
    FROM _record_functions r
    JOIN traces_with w ON w.trace_id = r.trace_id
),
nodes AS (
    SELECT trace_id, event_id, track_id, call_id, caller_id, name, ts_ns, end_ns FROM rows
    UNION ALL
    SELECT e.trace_id, e.event_id, e.track_id, NULL, e.parent_id, e.name, e.ts_ns, greatest(e.end_ns, e.ts_ns)
    FROM events e
    JOIN (SELECT DISTINCT trace_id FROM rows WHERE frames_are_counted) c ON c.trace_id = e.trace_id
    WHERE e.cat = 'python_function' AND e.ph = 'X' AND e.dur_ns IS NOT NULL
),
-- At one instant: starts, records, ends.
points AS (
    SELECT trace_id, event_id, ts_ns AS at, 0 AS place, 0 AS cpu_bytes, 0 AS device_bytes, CASE WHEN call_id IS NULL THEN 0 ELSE 1 END AS running FROM nodes
    UNION ALL
    SELECT trace_id, event_id, ts_ns, 1, cpu_bytes, device_bytes, 0 FROM records
    UNION ALL
    SELECT trace_id, event_id, end_ns, 2, 0, 0, CASE WHEN call_id IS NULL THEN 0 ELSE -1 END FROM nodes
),
sums AS (
    SELECT
        trace_id, event_id, place, cpu_bytes, device_bytes,
        sum(cpu_bytes) OVER so_far AS cpu_sum,
        sum(device_bytes) OVER so_far AS device_sum,
        sum(running) OVER so_far AS running
    FROM points
    WINDOW so_far AS (PARTITION BY trace_id ORDER BY at, place ROWS UNBOUNDED PRECEDING)
),
totals AS (
    SELECT
        trace_id, event_id,
        sum(CASE place WHEN 2 THEN cpu_sum ELSE 0 - cpu_sum END) AS cpu_bytes,
        sum(CASE place WHEN 2 THEN device_sum ELSE 0 - device_sum END) AS device_bytes
    FROM sums
    WHERE place <> 1
    GROUP BY trace_id, event_id
),
owned AS (
    SELECT
        n.trace_id, n.event_id, n.track_id, n.call_id, n.name, n.ts_ns, n.end_ns, t.cpu_bytes, t.device_bytes,
        t.cpu_bytes - children_sum(n.event_id, n.caller_id, t.cpu_bytes) OVER track AS self_cpu_bytes,
        t.device_bytes - children_sum(n.event_id, n.caller_id, t.device_bytes) OVER track AS self_device_bytes
    FROM nodes n
    JOIN totals t ON t.trace_id = n.trace_id AND t.event_id = n.event_id
    WINDOW track AS (PARTITION BY n.trace_id, n.track_id ORDER BY n.ts_ns, n.end_ns DESC, n.event_id)
)
SELECT
    trace_id, event_id, name, cpu_bytes, device_bytes,
    children_sum(event_id, call_id, CASE WHEN NOT starts_with(name, 'gloo:') THEN self_cpu_bytes END) OVER track AS call_self_cpu_bytes,
    children_sum(event_id, call_id, CASE WHEN NOT starts_with(name, 'gloo:') THEN self_device_bytes END) OVER track AS call_self_device_bytes
FROM owned
WHERE call_id IS NOT NULL
WINDOW track AS (PARTITION BY trace_id, track_id ORDER BY ts_ns, end_ns DESC, event_id)
UNION ALL
SELECT trace_id, NULL, '[memory]', cpu_bytes, device_bytes, cpu_bytes AS call_self_cpu_bytes, device_bytes AS call_self_device_bytes
FROM sums
WHERE place = 1 AND running = 0
