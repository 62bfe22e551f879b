-- The environment of each trace: GPU, versions, job, data type and profiler options, one row per
-- property.
--
-- Each trace has a row for every property, in the same order. value is NULL where the trace does
-- not record the property. tracesql compare and check --baseline show the properties that differ
-- between the two sides. torch.profiler does not record its own version; call
-- prof.add_metadata('pytorch_version', torch.__version__) to have it here.
--
-- The properties:
-- - gpu, gpu_count, gpu_memory, gpu_architecture: the devices that ran work (if none of them is
--   described, all described devices), the number of described devices, their memory, and their
--   compute capability
-- - pytorch: metadata pytorch_version or torch_version
-- - runtime, driver: version of CUDA or HIP
-- - device_tracer: version of CUPTI or roctracer
-- - world_size, backend, rank: from distributedInfo; the rank also from the name of the file
-- - host: host_name
-- - matrix_dtype: types of the first inputs of aten::mm, addmm, bmm, baddbmm and scaled products;
--   NULL without record_shapes
-- - profiler_options: those of record_shapes, with_stack, profile_memory, with_flops and
--   with_modules that were on; NULL if none is recorded, since older versions do not write them
-- - format: kineto, chrome, mllm_perf, torch_memory, nsys, rocpd, rpd, rocprofv3, xplane,
--   perfetto, flight_recorder, execution_trace, memory_timeline or stacks
-- - job: which traces belong together: the folder, backend and world size of traces with a rank,
--   and the path of other traces, with N for numbers
--
-- Example: SELECT trace_id, label, value FROM trace_environment WHERE value IS NOT NULL
--
-- @scope job
-- @column trace_id VARCHAR text The trace.
-- @column place BIGINT number Position of the property in the list, from 1.
-- @column property VARCHAR text Name of the property, for queries.
-- @column label VARCHAR text Name of the property, for people.
-- @column value VARCHAR text Its value; several are separated by commas; NULL if not recorded.
WITH used AS (
    SELECT trace_id, device FROM kernels WHERE device IS NOT NULL GROUP BY trace_id, device
),
device AS (
    SELECT
        d.trace_id,
        nullif(d.name, '') AS name,
        d.total_memory_bytes,
        d.compute_major || '.' || d.compute_minor AS architecture,
        u.device IS NOT NULL AS is_used,
        bool_or(u.device IS NOT NULL) OVER (PARTITION BY d.trace_id) AS any_used
    FROM devices d
    LEFT JOIN used u ON u.trace_id = d.trace_id AND u.device = d.device
),
described AS (
    SELECT
        trace_id,
        count(*) AS devices,
        array_agg(DISTINCT name) FILTER (WHERE name IS NOT NULL AND (is_used OR NOT any_used))
            AS names,
        max(total_memory_bytes) FILTER (WHERE is_used OR NOT any_used) AS memory_bytes,
        array_agg(DISTINCT architecture)
            FILTER (WHERE architecture IS NOT NULL AND (is_used OR NOT any_used)) AS architectures
    FROM device
    GROUP BY trace_id
),
product AS (
    SELECT trace_id, replace(json_get_str(input_types, 0), 'c10::', '') AS type
    FROM events
    WHERE name IN (
            'aten::mm', 'aten::addmm', 'aten::bmm', 'aten::baddbmm', 'aten::_scaled_mm',
            'aten::_addmm_activation'
        )
        AND starts_with(input_types, '["')
    GROUP BY trace_id, json_get_str(input_types, 0)
),
typed AS (
    SELECT
        trace_id,
        CASE type
            WHEN 'float' THEN 'float32'
            WHEN 'double' THEN 'float64'
            WHEN 'Half' THEN 'float16'
            WHEN 'BFloat16' THEN 'bfloat16'
            WHEN 'signed char' THEN 'int8'
            WHEN 'unsigned char' THEN 'uint8'
            WHEN 'int' THEN 'int32'
            WHEN 'long int' THEN 'int64'
            ELSE lower(type)
        END AS type
    FROM product
    WHERE type <> ''
),
precision AS (
    SELECT trace_id, string_agg(DISTINCT type, ', ' ORDER BY type) AS types
    FROM typed
    GROUP BY trace_id
),
named AS (
    SELECT
        t.*, j.rank AS job_rank,
        coalesce(
            json_as_text(t.metadata, 'pytorch_version'), json_as_text(t.metadata, 'torch_version')
        ) AS pytorch,
        try_cast(json_as_text(t.metadata, 'cuda_runtime_version') AS BIGINT) AS cuda_runtime,
        try_cast(json_as_text(t.metadata, 'cuda_driver_version') AS BIGINT) AS cuda_driver,
        try_cast(json_as_text(t.metadata, 'hip_runtime_version') AS BIGINT) AS hip_runtime,
        try_cast(json_as_text(t.metadata, 'hip_driver_version') AS BIGINT) AS hip_driver,
        json_as_text(t.metadata, 'cupti_version') AS cupti,
        json_as_text(t.metadata, 'roctracer_version') AS roctracer,
        nullif(concat_ws(', ',
            CASE WHEN json_as_text(t.metadata, 'record_shapes') = '1' THEN 'record_shapes' END,
            CASE WHEN json_as_text(t.metadata, 'with_stack') = '1' THEN 'with_stack' END,
            CASE WHEN json_as_text(t.metadata, 'profile_memory') = '1' THEN 'profile_memory' END,
            CASE WHEN json_as_text(t.metadata, 'with_flops') = '1' THEN 'with_flops' END,
            CASE WHEN json_as_text(t.metadata, 'with_modules') = '1' THEN 'with_modules' END
        ), '') AS options,
        -- Runs of a job differ in numbers and dates.
        regexp_replace(
            CASE
                WHEN j.rank IS NULL THEN t.path
                WHEN regexp_like(t.path, '[/\\]') THEN regexp_replace(t.path, '[/\\][^/\\]*$', '')
                ELSE '.'
            END,
            '[0-9]+|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec', 'N', 'g'
        ) AS place
    FROM traces t
    LEFT JOIN job_ranks j ON j.trace_id = t.trace_id
)
SELECT
    n.trace_id,
    unnest(range(1, 17)) AS place,
    unnest(make_array(
        'gpu', 'gpu_count', 'gpu_memory', 'gpu_architecture', 'pytorch', 'runtime', 'driver',
        'device_tracer', 'world_size', 'backend', 'rank', 'host', 'matrix_dtype',
        'profiler_options', 'format', 'job'
    )) AS property,
    unnest(make_array(
        'GPU', 'GPUs described', 'GPU memory', 'Compute capability', 'PyTorch',
        'CUDA or HIP runtime', 'CUDA or HIP driver', 'Device tracer', 'World size', 'Backend',
        'Rank', 'Host', 'Type of matrix products', 'Profiler options', 'Format', 'Job'
    )) AS label,
    unnest(make_array(
        array_to_string(array_sort(d.names), ', '),
        CAST(d.devices AS VARCHAR),
        format_bytes(d.memory_bytes),
        array_to_string(array_sort(d.architectures), ', '),
        n.pytorch,
        CASE
            WHEN n.cuda_runtime > 0
                THEN concat('CUDA ', n.cuda_runtime / 1000, '.', n.cuda_runtime % 1000 / 10)
            WHEN n.hip_runtime > 0 THEN concat(
                'HIP ', n.hip_runtime / 10000000, '.', n.hip_runtime % 10000000 / 100000, '.',
                n.hip_runtime % 100000
            )
        END,
        CASE
            WHEN n.cuda_driver > 0
                THEN concat('CUDA ', n.cuda_driver / 1000, '.', n.cuda_driver % 1000 / 10)
            WHEN n.hip_driver > 0 THEN concat(
                'HIP ', n.hip_driver / 10000000, '.', n.hip_driver % 10000000 / 100000, '.',
                n.hip_driver % 100000
            )
        END,
        coalesce('CUPTI ' || n.cupti, 'roctracer ' || n.roctracer),
        CAST(n.world_size AS VARCHAR),
        n.backend,
        CAST(n.job_rank AS VARCHAR),
        n.host,
        p.types,
        n.options,
        n.format,
        CASE
            WHEN n.job_rank IS NULL THEN n.place
            ELSE concat_ws(' ', n.place, n.backend, n.world_size || ' ranks')
        END
    )) AS value
FROM named n
LEFT JOIN described d ON d.trace_id = n.trace_id
LEFT JOIN precision p ON p.trace_id = n.trace_id
