-- Memory of the host rows in PyTorch's own table: allocations minus frees while they run, on any
-- thread.
--
-- A record at the very start or end of a row counts for it. inside_… is the memory of rows directly
-- inside, and of Python frames where frames also count in times (_record_functions). Otherwise it
-- is NULL. Each record while no row runs is a row without event_id. Traces without memory records
-- have no rows.
-- @scope trace
WITH records AS (
    SELECT
        m.trace_id, m.ts_ns,
        CASE WHEN m.device_type = 'cpu' THEN m.bytes ELSE 0 END AS cpu_bytes,
        CASE WHEN m.device_type <> 'cpu' THEN m.bytes ELSE 0 END AS device_bytes
    FROM memory m
    JOIN traces t ON t.trace_id = m.trace_id
    WHERE m.bytes IS NOT NULL AND t.format NOT IN ('mllm_perf', 'torch_memory')
),
with_frames AS (
    SELECT trace_id FROM _counted_frames WHERE trace_id IN (SELECT trace_id FROM records)
),
nodes AS (
    SELECT
        e.trace_id, e.event_id, e.parent_id, e.ts_ns,
        greatest(e.end_ns, e.ts_ns) AS end_ns,
        1 AS is_row
    FROM events e
    JOIN (SELECT DISTINCT trace_id FROM records) r ON r.trace_id = e.trace_id
    WHERE e.ph IN ('X', 'B') AND e.dur_ns IS NOT NULL
        AND e.cat IN (
            'cpu_op', 'user_annotation', 'Operator', 'operator',
            'cuda_runtime', 'cuda_driver', 'Runtime', 'runtime', 'hip_runtime', 'hip_driver',
            'xpu_runtime', 'xpu_driver',
            'mtia_runtime', 'glow_runtime', 'privateuse1_runtime', 'privateuse1_driver')
    UNION ALL
    SELECT e.trace_id, e.event_id, e.parent_id, e.ts_ns, greatest(e.end_ns, e.ts_ns), 0
    FROM events e
    JOIN with_frames f ON f.trace_id = e.trace_id
    WHERE e.cat = 'python_function' AND e.ph IN ('X', 'B') AND e.dur_ns IS NOT NULL
),
-- The order at one instant is starts, records, ends.
points AS (
    SELECT
        trace_id, event_id, parent_id,
        ts_ns AS at,
        0 AS place,
        0 AS cpu_bytes,
        0 AS device_bytes,
        is_row AS running
    FROM nodes
    UNION ALL
    SELECT trace_id, NULL, NULL, ts_ns, 1, cpu_bytes, device_bytes, 0 FROM records
    UNION ALL
    SELECT trace_id, event_id, parent_id, end_ns, 2, 0, 0, 0 - is_row FROM nodes
),
sums AS (
    SELECT
        trace_id, event_id, parent_id, place, cpu_bytes, device_bytes,
        running_sum(cpu_bytes) OVER so_far AS cpu_sum,
        running_sum(device_bytes) OVER so_far AS device_sum,
        running_sum(running) OVER so_far AS running
    FROM points
    WINDOW so_far AS (PARTITION BY trace_id ORDER BY at, place)
),
totals AS (
    SELECT
        trace_id, event_id, parent_id,
        sum(CASE place WHEN 2 THEN cpu_sum ELSE 0 - cpu_sum END) AS cpu_bytes,
        sum(CASE place WHEN 2 THEN device_sum ELSE 0 - device_sum END) AS device_bytes
    FROM sums
    WHERE place <> 1
    GROUP BY trace_id, event_id, parent_id
)
SELECT
    t.trace_id, t.event_id, t.cpu_bytes, t.device_bytes,
    CASE
        WHEN f.trace_id IS NOT NULL
            THEN children_sum(t.event_id, t.parent_id, t.cpu_bytes) OVER trace
    END AS inside_cpu_bytes,
    CASE
        WHEN f.trace_id IS NOT NULL
            THEN children_sum(t.event_id, t.parent_id, t.device_bytes) OVER trace
    END AS inside_device_bytes
FROM totals t
LEFT JOIN with_frames f ON f.trace_id = t.trace_id
WINDOW trace AS (PARTITION BY t.trace_id)
UNION ALL
SELECT trace_id, NULL, cpu_bytes, device_bytes, NULL, NULL
FROM sums
WHERE place = 1 AND running = 0
