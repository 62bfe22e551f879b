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
--   that one cannot, with torch.profiler.
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
    SELECT t.trace_id, t.rank, t.format, h.*, d.*, m.records, m.totals, s.steps, p.properties
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
        trace_id, rank, format,
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
),
texts AS (
    SELECT *
    FROM (VALUES
        (
            'steps',
            'step_time; step_overlap; memory_leak; step_variation',
            'call prof.step() at the end of each step, with a schedule'
        ),
        (
            'operators',
            'operators; key_averages; call_graph',
            'activities=[ProfilerActivity.CPU, …]'
        ),
        ('shapes', 'operators_by_input; collective_operators', 'record_shapes=True'),
        (
            'stacks',
            'stack views; device_syncs (where)',
            'with_stack=True; where frames are missing all the same, '
                || 'also experimental_config=_ExperimentalConfig(verbose=True)'
        ),
        (
            'call_stacks', 'operators_by_stack',
            'with_stack=True; since PyTorch 2.4 or before, '
                || 'only with experimental_config=_ExperimentalConfig(verbose=True), '
                || 'as frames (stacks) say the same'
        ),
        (
            'modules',
            'module_tree; allocations (module_path)',
            'with_stack=True, which writes nn.Module frames; '
                || 'with_modules=True for TorchScript models'
        ),
        (
            'memory',
            'memory_curve; allocations; memory_by_operator; memory_peak; memory_leak',
            'profile_memory=True'
        ),
        (
            'memory_totals',
            'memory_curve (recorded values); memory_fragmentation',
            'profile_memory=True with PyTorch 1.10 or later'
        ),
        (
            'device',
            'gpu_summary; kernels_by_name; gpu_timeline',
            'activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], '
                || 'and a GPU that the process uses'
        ),
        (
            'links',
            'device time of operators, modules and regions',
            'record CPU and CUDA together, and start a step or more before the one of interest, '
                || 'so that launches are in the trace'
        ),
        (
            'occupancy',
            'gpu_summary (sm_efficiency_pct; occupancy_pct)',
            'recorded by CUPTI on NVIDIA GPUs; other profilers do not have it'
        ),
        (
            'collectives',
            'collectives (size; group; bandwidth)',
            'PyTorch 2.4 or later with NCCL, which writes size and group to each kernel; '
                || 'files of all ranks in one folder'
        ),
        (
            'rank',
            'job_ranks; collective_waits; stragglers',
            'initialise torch.distributed before the profiler starts, '
                || 'or put rank<N> into the name of the file'
        ),
        (
            'device_properties',
            'gpu_summary (name; memory); memory_peak (peak_pct)',
            'written by torch.profiler for CUDA and ROCm devices'
        )
    ) AS t(information, views, how_to_record)
),
-- What other profilers record, and how. Families of formats stand for several.
families AS (
    SELECT *
    FROM (VALUES
        ('nsys', 'nsys', 'exports of Nsight Systems do not have it'),
        ('rocpd', 'rocprofv3', 'files of rocprofv3 do not have it'),
        ('rocprofv3', 'rocprofv3', 'files of rocprofv3 do not have it'),
        ('rpd', 'rpd', 'files of rocmProfileData do not have it'),
        ('xplane', 'xplane', 'XPlane files do not have it'),
        ('perfetto', 'perfetto', 'this Perfetto trace does not have it')
    ) AS t(format, family, lack)
),
others AS (
    SELECT *
    FROM (VALUES
        ('nsys', 'steps', 'push an NVTX range ProfilerStep#N around each step; --trace=cuda,nvtx'),
        (
            'nsys', 'operators',
            'run in torch.autograd.profiler.emit_nvtx(); nsys profile --trace=cuda,nvtx'
        ),
        ('nsys', 'memory', 'nsys profile --cuda-memory-usage=true'),
        ('nsys', 'device', 'nsys profile --trace=cuda, and a GPU that the process uses'),
        ('nsys', 'links', 'nsys profile --trace=cuda, started a step before the one of interest'),
        (
            'rocprofv3', 'steps',
            'push a roctx range ProfilerStep#N around each step; rocprofv3 --marker-trace'
        ),
        ('rocprofv3', 'memory', 'rocprofv3 --memory-allocation-trace'),
        ('rocprofv3', 'device', 'rocprofv3 --kernel-trace --memory-copy-trace'),
        ('rocprofv3', 'links', 'rocprofv3 --hip-runtime-trace --kernel-trace'),
        ('xplane', 'steps', 'jax.profiler.StepTraceAnnotation around each step'),
        ('xplane', 'device', 'jax.profiler.trace() on a machine with a GPU or TPU')
    ) AS t(family, information, how_to_record)
)
SELECT
    l.trace_id, l.rank, l.information,
    CASE
        WHEN l.candidates = 0 THEN 'not applicable'
        WHEN coalesce(l.events, 0) = 0 THEN 'missing'
        WHEN l.events < l.candidates THEN 'partial'
        ELSE 'present'
    END AS status,
    coalesce(l.events, 0) AS events, l.candidates, x.views,
    CASE
        WHEN o.how_to_record IS NOT NULL THEN o.how_to_record
        WHEN f.lack IS NOT NULL THEN concat(f.lack, '; torch.profiler: ', x.how_to_record)
        ELSE x.how_to_record
    END AS how_to_record
FROM listed l
JOIN texts x ON x.information = l.information
LEFT JOIN families f ON f.format = l.format
LEFT JOIN others o ON o.family = f.family AND o.information = l.information
