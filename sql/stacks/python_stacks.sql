-- Host time, device time and memory by the stack of Python functions.
--
-- Of each stack only the frames of Python are kept: functions (`file(line): name`), built-in
-- functions and modules. So all that a function runs outside of other Python functions (operators,
-- runtime calls, kernels) counts for it.
-- What runs without Python, such as the backward pass on its own thread, has the frame `(outside of
-- Python)`; so the sums over a trace are those of `stack_samples`. Traces have Python frames if
-- they were recorded with `with_stack`.
--
-- Source: stack_samples.
-- Example: SELECT function, sum(cpu_ns) AS cpu_ns FROM python_stacks GROUP BY function
--   ORDER BY cpu_ns DESC LIMIT 5
-- Range: sum cpu_ns, gpu_ns
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank; NULL if not recorded.
-- @column thread VARCHAR text Name of the thread, else its id; NULL for device work without a
--   launch.
-- @column step BIGINT id Step; NULL outside of steps.
-- @column function VARCHAR text The innermost Python frame.
-- @column folded VARCHAR text The stack of Python frames as one text, `root;…;leaf`.
-- @column depth BIGINT count Number of Python frames; 0 outside of Python.
-- @column cpu_ns BIGINT ns Host time.
-- @column kernels BIGINT count Device activities launched.
-- @column gpu_ns BIGINT ns Their time.
-- @column alloc_bytes BIGINT bytes Bytes allocated.
WITH filtered AS (
  SELECT
    trace_id, rank, thread, step, cpu_ns, kernels, gpu_ns, alloc_space_bytes,
    fold_stack(stack_filter(stack, '[(][0-9]+[)]: |^<built-in |^nn[.]Module: ')) AS folded
  FROM stack_samples
),
sums AS (
  SELECT
    trace_id, rank, thread, step, folded,
    sum(cpu_ns) AS cpu_ns,
    sum(kernels) AS kernels,
    sum(gpu_ns) AS gpu_ns,
    sum(alloc_space_bytes) AS alloc_bytes
  FROM filtered
  GROUP BY trace_id, rank, thread, step, folded
)
SELECT
  trace_id, rank, thread, step,
  coalesce(stack_leaf(unfold_stack(folded)), '(outside of Python)') AS function,
  CASE WHEN folded = '' THEN '(outside of Python)' ELSE folded END AS folded,
  CAST(coalesce(array_length(unfold_stack(folded)), 0) AS BIGINT) AS depth,
  cpu_ns, kernels, gpu_ns, alloc_bytes
FROM sums
