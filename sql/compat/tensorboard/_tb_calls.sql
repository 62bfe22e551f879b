-- Host calls as torch-tb-profiler 0.4.3 reads them: only categories that it knows, times in float
-- microseconds, threads by tid alone.
--
-- A start is the float nearest to the trace's decimal number. An end is start plus duration in
-- float arithmetic, as in Python. start_tick and end_tick are the same times in the unit of
-- _tb_clock, so that nesting can be compared exactly. link_id is the External id as written, which
-- may be 0 or -1. The smallest number stands for a missing id, which the plugin also treats as an
-- id and which modules have. on_root marks launches with id 0, which the plugin also attaches to
-- the root of their thread if the trace writes the thread as a number. It does not find threads
-- that are written as text.
-- @scope trace
WITH calls AS (
    SELECT
        e.trace_id, e.event_id,
        coalesce(e.tid, TRY_CAST(k.tid_text AS BIGINT)) AS tid,
        lower(e.cat) AS cat,
        e.name, e.step, e.input_dims, e.call_stack,
        e.python_module_id, e.tid IS NOT NULL AS has_number,
        CASE
            WHEN e.cat = 'python_function' THEN NULL
            WHEN e.external_id IS NOT NULL THEN e.external_id
            ELSE coalesce(json_get_int(e.args, 'external id'), json_get_int(e.args, 'External id'))
        END AS external_id,
        CAST(e.ts_ns / 1000 AS DOUBLE) + CAST(e.ts_ns % 1000 AS DOUBLE) / 1000.0 AS start_us,
        CAST(greatest(e.dur_ns, 0) / 1000 AS DOUBLE)
            + CAST(greatest(e.dur_ns, 0) % 1000 AS DOUBLE) / 1000.0 AS dur_us
    FROM events e
    JOIN tracks k ON k.trace_id = e.trace_id AND k.track_id = e.track_id
    WHERE e.ph = 'X' AND e.dur_ns IS NOT NULL AND e.name IS NOT NULL
        AND e.cat IN (
            'cpu_op', 'Operator', 'operator', 'user_annotation', 'gpu_user_annotation', 'python',
            'python_function', 'Runtime', 'runtime'
        )
        AND (e.cat <> 'python_function' OR e.python_module_id IS NOT NULL)
),
named AS (
    SELECT *,
        start_us + dur_us AS end_us,
        starts_with(name, 'ProfilerStep#') AS is_step,
        (starts_with(name, 'enumerate(DataLoader)#') AND ends_with(name, '.__next__'))
            OR starts_with(name, 'enumerate(DataPipe)#') AS is_loader,
        name IN (
            'nccl:broadcast', 'nccl:reduce', 'nccl:all_reduce', 'nccl:all_gather',
            'nccl:reduce_scatter',
            'gloo:broadcast', 'gloo:reduce', 'gloo:all_reduce', 'gloo:all_gather',
            'gloo:reduce_scatter'
        ) AS is_collective_name
    FROM calls
),
kinds AS (
    SELECT n.*,
        CASE
            WHEN cat = 'runtime' THEN 'launch'
            WHEN cat = 'python_function' THEN 'module'
            WHEN is_step AND cat <> 'python' THEN 'step'
            WHEN is_loader THEN 'dataloader'
            WHEN starts_with(name, 'Optimizer.step') THEN 'optimizer'
            WHEN cat = 'python' THEN 'python'
            WHEN cat IN ('user_annotation', 'gpu_user_annotation') THEN 'collective'
            ELSE 'operator'
        END AS kind,
        ticks_per_us
    FROM named n
    JOIN _tb_clock k ON k.trace_id = n.trace_id
    WHERE cat NOT IN ('user_annotation', 'gpu_user_annotation') OR is_step OR is_collective_name
)
SELECT
    trace_id, event_id, tid, step, kind, name, start_us, end_us,
    end_us - start_us AS dur_us,
    input_dims, call_stack,
    coalesce(external_id, -9223372036854775808) AS link_id,
    kind = 'launch' AND has_number AND coalesce(external_id = 0, false) AS on_root,
    kind IN ('operator', 'dataloader', 'optimizer')
        AND cat IN ('cpu_op', 'operator') AS is_operator,
    kind = 'operator'
        AND name NOT IN ('DataParallel.forward', 'DistributedDataParallel.forward')
        AND NOT starts_with(name, 'Optimizer.') AS is_listed,
    is_collective_name AND kind NOT IN ('launch', 'module') AS is_collective,
    CAST(start_us * ticks_per_us AS BIGINT) AS start_tick,
    CAST(end_us * ticks_per_us AS BIGINT) AS end_tick,
    CASE WHEN kind = 'launch' THEN 1 ELSE 0 END AS is_launch
FROM kinds
