-- How to record each kind of information that coverage lists, for each trace: by the profiler that
-- wrote it, or by torch.profiler where that one cannot.
--
-- how_to_record is NULL for files that hold one kind of information only, such as memory snapshots
-- and dumps. advice is an imperative without a capital letter and a full stop. It is NULL where the
-- profiler that wrote the file cannot record the information. hint ends a sentence of a rule that
-- says that the information is missing: "; use profile_memory=True." or ": files of
-- rocmProfileData hold none.".
-- @scope trace
WITH texts AS (
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
-- What the files of other programs cannot have. Families of formats stand for several.
families AS (
    SELECT *
    FROM (VALUES
        ('chrome', 'chrome', 'Chrome traces of other programs', 'do not have it', 'hold none'),
        ('nsys', 'nsys', 'exports of Nsight Systems', 'do not have it', 'hold none'),
        ('rocpd', 'rocprofv3', 'files of rocprofv3', 'do not have it', 'hold none'),
        ('rocprofv3', 'rocprofv3', 'files of rocprofv3', 'do not have it', 'hold none'),
        ('rpd', 'rpd', 'files of rocmProfileData', 'do not have it', 'hold none'),
        ('xplane', 'xplane', 'XPlane files', 'do not have it', 'hold none'),
        ('perfetto', 'perfetto', 'this Perfetto trace', 'does not have it', 'holds none'),
        ('mllm_perf', NULL, 'a perf.json recording', NULL, 'holds none'),
        ('torch_memory', NULL, 'a memory snapshot', NULL, 'holds none'),
        ('flight_recorder', NULL, 'a flight recorder dump', NULL, 'holds none'),
        ('execution_trace', NULL, 'an execution trace', NULL, 'holds none'),
        ('memory_timeline', NULL, 'a memory timeline', NULL, 'holds none'),
        ('stacks', NULL, 'a file of stacks', NULL, 'holds none')
    ) AS t(format, family, files, lack, none)
),
others AS (
    SELECT *
    FROM (VALUES
        ('nsys', 'rank', 'put rank<N> into the name of the file'),
        ('rocprofv3', 'rank', 'put rank<N> into the name of the file'),
        ('rpd', 'rank', 'put rank<N> into the name of the file'),
        ('xplane', 'rank', 'put rank<N> into the name of the file'),
        ('perfetto', 'rank', 'put rank<N> into the name of the file'),
        ('chrome', 'rank', 'put rank<N> into the name of the file'),
        (
            'nsys', 'steps',
            'nsys profile --trace=cuda,nvtx and an NVTX range ProfilerStep#N around each step, '
                || 'or tracesql ingest --steps-from for ranges of other names'
        ),
        (
            'nsys', 'operators',
            'nsys profile --trace=cuda,nvtx, with the program in '
                || 'torch.autograd.profiler.emit_nvtx()'
        ),
        ('nsys', 'memory', 'nsys profile --cuda-memory-usage=true'),
        ('nsys', 'device', 'nsys profile --trace=cuda, and a GPU that the process uses'),
        ('nsys', 'links', 'nsys profile --trace=cuda, started a step before the one of interest'),
        (
            'rocprofv3', 'steps',
            'rocprofv3 --marker-trace and a roctx range ProfilerStep#N around each step, '
                || 'or tracesql ingest --steps-from for ranges of other names'
        ),
        ('rocprofv3', 'memory', 'rocprofv3 --memory-allocation-trace'),
        ('rocprofv3', 'device', 'rocprofv3 --kernel-trace --memory-copy-trace'),
        ('rocprofv3', 'links', 'rocprofv3 --hip-runtime-trace --kernel-trace'),
        ('xplane', 'steps', 'jax.profiler.StepTraceAnnotation around each step'),
        ('xplane', 'operators', 'jax.profiler.trace() or the profiler of TensorFlow'),
        (
            'xplane', 'memory',
            'jax.profiler.trace() in a program whose allocator writes its allocations, '
                || 'as on GPUs'
        ),
        (
            'xplane', 'memory_totals',
            'jax.profiler.trace() in a program whose allocator writes its allocations, '
                || 'as on GPUs'
        ),
        ('xplane', 'device', 'jax.profiler.trace() on a machine with a GPU or TPU'),
        ('xplane', 'links', 'jax.profiler.trace(), started a step before the one of interest'),
        ('xplane', 'device_properties', 'jax.profiler.trace() on a machine with a GPU or TPU'),
        (
            'rpd', 'steps',
            'roctx ranges around each step, and tracesql ingest --steps-from for their names'
        ),
        (
            'perfetto', 'steps',
            'ranges around each step, and tracesql ingest --steps-from for their names'
        ),
        (
            'chrome', 'steps',
            'ranges around each step, and tracesql ingest --steps-from for their names'
        ),
        ('rpd', 'device', 'runTracer.sh of rocmProfileData on a machine with a GPU'),
        ('rpd', 'links', 'start the tracer a step before the one of interest'),
        (
            'perfetto', 'device',
            'a profiler that writes device activities, as rocprofv3 --kernel-trace '
                || '--memory-copy-trace --output-format pftrace'
        ),
        (
            'perfetto', 'links',
            'a profiler that writes flows from calls to device activities, as rocprofv3 '
                || '--hip-runtime-trace --kernel-trace --output-format pftrace'
        ),
        ('nsys', 'device_properties', 'nsys profile --trace=cuda'),
        ('rocprofv3', 'device_properties', 'rocprofv3 --kernel-trace')
    ) AS t(family, information, how_to_record)
),
ways AS (
    SELECT
        t.trace_id, x.information, x.views, f.files, f.none,
        CASE
            WHEN f.files IS NULL THEN x.how_to_record
            ELSE o.how_to_record
        END AS own_way,
        CASE
            WHEN f.files IS NULL THEN x.how_to_record
            WHEN o.how_to_record IS NOT NULL THEN o.how_to_record
            WHEN f.lack IS NOT NULL
                THEN concat(f.files, ' ', f.lack, '; torch.profiler: ', x.how_to_record)
        END AS how_to_record
    FROM traces t
    CROSS JOIN texts x
    LEFT JOIN families f ON f.format = t.format
    LEFT JOIN others o ON o.family = f.family AND o.information = x.information
),
advised AS (
    SELECT
        *,
        CASE
            WHEN regexp_like(own_way, '^(call|initialise|push|put|record|start) ') THEN own_way
            ELSE 'use ' || own_way
        END AS advice
    FROM ways
)
SELECT
    trace_id, information, views, how_to_record, advice,
    CASE
        WHEN advice IS NOT NULL THEN concat('; ', advice, '.')
        ELSE concat(': ', files, ' ', none, '.')
    END AS hint
FROM advised
