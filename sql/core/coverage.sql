-- Which information a trace contains: how complete each kind is, and how to record what is missing.
--
-- One row per trace and kind of information. events counts the events that have it, candidates
-- those that could have it. status is present, partial (less than all that could) or missing, and
-- not applicable where nothing in the trace could have it. Device activities of a kind that never
-- carries a correlation could have no link. views names the views that need it; without it they are
-- empty or NULL.
--
-- Example: SELECT information, status, how_to_record FROM coverage WHERE status <> 'present'
-- Holds: events <= candidates
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column information VARCHAR text steps, operators, shapes, stacks, call_stacks, modules, memory,
--   memory_totals, device, links, occupancy, collectives, rank or device_properties.
-- @column status VARCHAR text present, partial, missing or not applicable.
-- @column events BIGINT count Events that have it.
-- @column candidates BIGINT count Events that could have it; NULL where there is no such number.
-- @column views VARCHAR text Views that need it.
-- @column how_to_record VARCHAR text How to record it with the profiler that wrote the file; where
--   that one cannot, with torch.profiler; NULL if the status is present.
WITH host AS (
    SELECT
        trace_id,
        count(*) FILTER (WHERE cat IN ('cpu_op', 'Operator', 'operator')) AS operators,
        -- If shapes were not requested, old profilers write an empty list to each operator.
        CASE
            WHEN count(*) FILTER (
                WHERE cat IN ('cpu_op', 'Operator', 'operator') AND input_dims <> '[]'
            )
                > 0
                THEN count(*) FILTER (
                    WHERE cat IN ('cpu_op', 'Operator', 'operator') AND input_dims IS NOT NULL
                )
            ELSE 0
        END AS shaped,
        count(*) FILTER (
            WHERE cat IN ('cpu_op', 'Operator', 'operator') AND call_stack <> ''
        ) AS call_stacks,
        count(*) FILTER (WHERE cat = 'python_function') AS frames,
        count(*) FILTER (
            WHERE cat = 'python_function' AND python_module_id IS NOT NULL
                OR cat IN ('cpu_op', 'user_annotation', 'Operator', 'operator')
                AND starts_with(name, '[pl][module]')
            ) AS module_frames,
        count(*) FILTER (WHERE module_hierarchy <> '') AS hierarchies,
        count(*) FILTER (WHERE cat IN (
            'cuda_runtime', 'cuda_driver', 'Runtime', 'runtime', 'hip_runtime', 'hip_driver',
            'xpu_runtime', 'xpu_driver',
            'mtia_runtime', 'glow_runtime', 'privateuse1_runtime', 'privateuse1_driver'
        )) AS launches
    FROM events
    GROUP BY trace_id
),
device AS (
    SELECT
        trace_id,
        count(*) AS activities,
        count(launch_id) AS linked,
        count(*) FILTER (WHERE link_reason = 'never_correlated') AS unlinkable,
        count(*) FILTER (WHERE kind = 'kernel') AS kernels,
        count(*) FILTER (WHERE kind = 'kernel' AND occupancy_pct IS NOT NULL) AS occupied,
        count(c.event_id) AS communication,
        count(*) FILTER (WHERE kind = 'kernel' AND collective_name IS NOT NULL) AS described
    FROM kernels k
    LEFT JOIN (
        SELECT trace_id AS class_trace, event_id FROM kernel_classes WHERE class = 'communication'
    ) c
        ON c.class_trace = k.trace_id AND c.event_id = k.event_id
    WHERE kind <> 'sync'
    GROUP BY trace_id
),
memories AS (
    SELECT trace_id, count(*) AS records, count(total_allocated_bytes) AS totals
    FROM memory
    GROUP BY trace_id
),
counts AS (
    SELECT t.trace_id, t.rank, h.*, d.*, m.records, m.totals, s.steps, p.properties
    FROM traces t
    LEFT JOIN (SELECT trace_id AS host_trace, * EXCLUDE (trace_id) FROM host) h
        ON h.host_trace = t.trace_id
    LEFT JOIN (SELECT trace_id AS device_trace, * EXCLUDE (trace_id) FROM device) d
        ON d.device_trace = t.trace_id
    LEFT JOIN memories m ON m.trace_id = t.trace_id
    LEFT JOIN (SELECT trace_id, count(*) AS steps FROM steps GROUP BY trace_id) s
        ON s.trace_id = t.trace_id
    LEFT JOIN (SELECT trace_id, count(*) AS properties FROM devices GROUP BY trace_id) p
        ON p.trace_id = t.trace_id
    WHERE t.format NOT IN (
        'mllm_perf', 'torch_memory', 'flight_recorder', 'execution_trace', 'memory_timeline',
        'stacks'
    )
),
listed AS (
    SELECT
        trace_id, rank,
        unnest(make_array(
            'steps', 'operators', 'shapes', 'stacks', 'call_stacks', 'modules', 'memory',
            'memory_totals', 'device', 'links', 'occupancy', 'collectives',
            'rank', 'device_properties')) AS information,
        unnest(make_array(
            steps, operators, shaped, frames, call_stacks,
            greatest(module_frames, hierarchies),
            records, totals, activities, linked, occupied, described,
            CASE WHEN rank IS NULL THEN 0 ELSE 1 END, properties)) AS events,
        unnest(make_array(
            NULL, NULL, coalesce(operators, 0), NULL, coalesce(operators, 0), NULL, NULL,
            coalesce(records, 0), NULL,
            coalesce(activities - unlinkable, 0),
            coalesce(kernels, 0), coalesce(communication, 0), NULL, NULL)) AS candidates
    FROM counts
)
SELECT
    l.trace_id, l.rank, l.information,
    CASE
        WHEN l.candidates = 0 THEN 'not applicable'
        WHEN coalesce(l.events, 0) = 0 THEN 'missing'
        WHEN l.events < l.candidates THEN 'partial'
        ELSE 'present'
    END AS status,
    coalesce(l.events, 0) AS events, l.candidates, a.views,
    CASE
        WHEN l.candidates > 0 AND l.events >= l.candidates THEN NULL
        WHEN l.candidates IS NULL AND l.events > 0 THEN NULL
        ELSE a.how_to_record
    END AS how_to_record
FROM listed l
JOIN _record_advice a ON a.trace_id = l.trace_id AND a.information = l.information
