-- Calls on the host that make up the operator tree: steps, modules, operators, collectives, data loading, optimizer steps.
--
-- kind is step, module, operator, collective (an annotation, not an operator), dataloader, optimizer or python (operators of category python).
-- is_operator marks calls of an operator category, to which annotations of data loading, optimizers and Lightning count.
-- in_table marks those that operator tables list.
WITH candidates AS (
    SELECT
        trace_id, event_id, track_id, step, cat, name, ts_ns, dur_ns, end_ns, pre, post, external_id, input_dims, input_types, call_stack,
        sequence_number, python_module_id,
        cat IN ('cpu_op', 'Operator', 'operator') AS is_cpu_op,
        starts_with(name, 'ProfilerStep#') AS is_step,
        (starts_with(name, 'enumerate(DataLoader)#') AND ends_with(name, '.__next__')) OR starts_with(name, 'enumerate(DataPipe)#') AS is_loader,
        name IN (
            'nccl:broadcast', 'nccl:reduce', 'nccl:all_reduce', 'nccl:all_gather', 'nccl:reduce_scatter',
            'gloo:broadcast', 'gloo:reduce', 'gloo:all_reduce', 'gloo:all_gather', 'gloo:reduce_scatter') AS is_collective,
        starts_with(name, 'enumerate(DataLoader)#') OR starts_with(name, 'enumerate(DataPipe)#') OR starts_with(name, 'Optimizer.')
            OR starts_with(name, '[pl][') AS is_mark
    FROM events
    WHERE ph IN ('X', 'B') AND dur_ns IS NOT NULL AND name IS NOT NULL
        AND cat IN ('cpu_op', 'Operator', 'operator', 'user_annotation', 'python_function', 'python')
        AND (cat <> 'python_function' OR python_module_id IS NOT NULL)
),
nodes AS (
    SELECT *,
        CASE
            WHEN cat = 'python_function' THEN 'module'
            WHEN is_step THEN 'step'
            WHEN is_loader THEN 'dataloader'
            WHEN starts_with(name, 'Optimizer.step') THEN 'optimizer'
            WHEN cat = 'python' THEN 'python'
            WHEN is_cpu_op OR is_mark THEN 'operator'
            ELSE 'collective'
        END AS kind
    FROM candidates
    WHERE cat <> 'user_annotation' OR is_step OR is_collective OR is_mark
)
SELECT
    trace_id, event_id, track_id, step, cat, kind, name, ts_ns, dur_ns, end_ns, pre, post, external_id, input_dims, input_types, call_stack,
    sequence_number,
    (kind IN ('operator', 'dataloader', 'optimizer') AND cat <> 'python') AS is_operator,
    kind = 'operator' AND name NOT IN ('DataParallel.forward', 'DistributedDataParallel.forward') AND NOT starts_with(name, 'Optimizer.') AS in_table,
    (is_cpu_op OR is_collective) AS takes_launches,
    is_collective
FROM nodes
