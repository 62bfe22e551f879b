-- Host calls on which views of operators, launches and steps are based, with the kind of each call.
--
-- kind is launch (a runtime or driver call), step, module, operator, collective (an annotation, not
-- an operator), dataloader, optimizer or python (of category python). is_operator marks calls of an
-- operator category, which includes annotations of data loading, optimizers and Lightning.
-- is_listed marks the calls that operator tables list. owns_launches marks calls that launches
-- belong to: operators and collective marks.
-- @scope trace
WITH calls AS (
    SELECT
        trace_id, event_id, track_id, step, cat, name, ts_ns,
        greatest(dur_ns, 0) AS dur_ns,
        greatest(end_ns, ts_ns) AS end_ns,
        input_dims, call_stack,
        cat IN ('cpu_op', 'Operator', 'operator') AS is_cpu_op,
        cat IN ('cpu_op', 'Operator', 'operator', 'user_annotation')
            AND starts_with(name, 'ProfilerStep#') AS is_step,
        (starts_with(name, 'enumerate(DataLoader)#') AND ends_with(name, '.__next__'))
            OR starts_with(name, 'enumerate(DataPipe)#') AS is_loader,
        starts_with(name, 'enumerate(DataLoader)#')
            OR starts_with(name, 'enumerate(DataPipe)#')
            OR starts_with(name, 'Optimizer.')
            OR starts_with(name, '[pl][') AS is_mark,
        name IN (
            'nccl:broadcast', 'nccl:reduce', 'nccl:all_reduce', 'nccl:all_gather',
            'nccl:reduce_scatter',
            'gloo:broadcast', 'gloo:reduce', 'gloo:all_reduce', 'gloo:all_gather',
            'gloo:reduce_scatter'
        ) AS is_collective_name
    FROM events
    WHERE ph IN ('X', 'B') AND dur_ns IS NOT NULL AND name IS NOT NULL
        AND (cat IN (
                'cpu_op', 'user_annotation', 'python_function', 'Operator', 'operator', 'python',
                'cuda_runtime', 'cuda_driver', 'Runtime', 'runtime', 'hip_runtime', 'hip_driver',
                'xpu_runtime', 'xpu_driver',
                'mtia_runtime', 'glow_runtime', 'privateuse1_runtime', 'privateuse1_driver'))
        AND (cat <> 'python_function' OR python_module_id IS NOT NULL)
),
kinds AS (
    SELECT *,
        CASE
            WHEN cat = 'python_function' THEN 'module'
            WHEN NOT is_cpu_op AND cat NOT IN ('user_annotation', 'python') THEN 'launch'
            WHEN is_step THEN 'step'
            WHEN is_loader THEN 'dataloader'
            WHEN starts_with(name, 'Optimizer.step') THEN 'optimizer'
            WHEN cat = 'python' THEN 'python'
            WHEN is_cpu_op OR is_mark THEN 'operator'
            ELSE 'collective'
        END AS kind
    FROM calls
    WHERE cat <> 'user_annotation' OR is_step OR is_collective_name OR is_mark
)
SELECT
    trace_id, event_id, track_id, step, kind, name, ts_ns, dur_ns, end_ns, input_dims, call_stack,
    kind IN ('operator', 'dataloader', 'optimizer') AND cat <> 'python' AS is_operator,
    kind = 'operator'
        AND name NOT IN ('DataParallel.forward', 'DistributedDataParallel.forward')
        AND NOT starts_with(name, 'Optimizer.') AS is_listed,
    is_cpu_op OR kind = 'collective' AS owns_launches,
    is_collective_name AND kind NOT IN ('launch', 'module') AS is_collective,
    CASE WHEN kind = 'launch' THEN 1 ELSE 0 END AS is_launch
FROM kinds
