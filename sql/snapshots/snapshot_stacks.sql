-- Distinct stacks of memory snapshots, each with its site and category.
--
-- Frames of the interpreter, of the unwinder and of PyTorch's dispatcher are left out, as in
-- PyTorch's viewer; memory_stacks has all frames. The site is the innermost frame of a Python file
-- outside of installed packages, else outside of the torch package, else the innermost frame. A snapshot does not record
-- what memory is for. The category follows from the frames, by the first of these rules that holds:
-- - optimizer: a frame in torch/optim
-- - backward: a frame of the autograd engine
-- - data: a frame in torch/utils/data, or a function pin_memory
-- - placement: a module is moved or converted (Module.to and its parts) or a state is loaded
-- - forward: a function forward or _call_impl
-- - other: none of them
--
-- Example: SELECT stack_id, category, site FROM snapshot_stacks ORDER BY stack_id LIMIT 5
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column stack_id BIGINT id The stack (memory_stacks.stack_id).
-- @column category VARCHAR text optimizer, backward, data, placement, forward or other.
-- @column site VARCHAR text The innermost frame of the program: `file(line): function`.
-- @column frames BIGINT count Number of frames in stack.
-- @column stack VARCHAR[] list Frames, root first.
WITH stacks_of AS (
    SELECT
        trace_id, stack_id,
        array_agg(frame ORDER BY depth) AS stack,
        last_value(frame ORDER BY depth) AS leaf,
        last_value(frame ORDER BY depth) FILTER (
            WHERE file LIKE '%.py' AND file NOT LIKE '%/torch/%' AND file NOT LIKE '%\\torch\\%'
        ) AS own,
        last_value(frame ORDER BY depth) FILTER (
            WHERE file LIKE '%.py' AND file NOT LIKE '%-packages%' AND file NOT LIKE '%/torch/%'
                AND file NOT LIKE '%/lib/python3%'
        ) AS program,
        bool_or(replace(file, '\', '/') LIKE '%torch/optim/%') AS has_optimizer,
        bool_or(
            name LIKE '%torch::autograd::%' OR name LIKE '%run\_backward%'
                OR name IN ('backward', 'THPEngine_run_backward')
        ) AS has_backward,
        bool_or(replace(file, '\', '/') LIKE '%torch/utils/data/%' OR name = 'pin_memory')
            AS has_data,
        bool_or(
            name IN ('_apply', 'convert', 'load_state_dict', '_load_from_state_dict')
                AND replace(file, '\', '/') LIKE '%torch/nn/modules/module.py'
        ) AS has_placement,
        bool_or(name IN ('forward', '_call_impl', '_wrapped_call_impl')) AS has_forward
    FROM _snapshot_frames
    GROUP BY trace_id, stack_id
)
SELECT
    trace_id, stack_id,
    CASE
        WHEN has_optimizer THEN 'optimizer'
        WHEN has_backward THEN 'backward'
        WHEN has_data THEN 'data'
        WHEN has_placement THEN 'placement'
        WHEN has_forward THEN 'forward'
        ELSE 'other'
    END AS category,
    coalesce(program, own, leaf) AS site,
    CAST(array_length(stack) AS BIGINT) AS frames,
    stack
FROM stacks_of
