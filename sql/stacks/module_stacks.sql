-- Host time, device time and memory by the stack of modules (nn.Module calls).
--
-- Of each stack only the frames `nn.Module: …` are kept, so that all that a module runs (Python
-- functions, operators, kernels) counts for the innermost module around it. What runs outside of
-- modules, such as the backward pass and the optimizer, has the frame `(outside of modules)`; so
-- the sums over a trace are those of `stack_samples`.
-- Traces have modules if they were recorded with Python stacks (`with_stack` or `with_modules`).
--
-- Source: stack_samples.
-- Example: SELECT module, cpu_ns, gpu_ns FROM module_stacks ORDER BY gpu_ns DESC LIMIT 5
-- Range: sum cpu_ns, gpu_ns
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank; NULL if not recorded.
-- @column step BIGINT id Step; NULL outside of steps.
-- @column module VARCHAR text The innermost module, without `nn.Module: `.
-- @column folded VARCHAR text The stack of modules as one text, `root;…;leaf`.
-- @column depth BIGINT count Number of modules in the stack; 0 outside of modules.
-- @column cpu_ns BIGINT ns Host time.
-- @column kernels BIGINT count Device activities launched.
-- @column gpu_ns BIGINT ns Their time.
-- @column alloc_bytes BIGINT bytes Bytes allocated.
WITH filtered AS (
  SELECT
    trace_id, rank, step, cpu_ns, kernels, gpu_ns, alloc_space_bytes,
    replace(fold_stack(stack_filter(stack, '^nn[.]Module: ')), 'nn.Module: ', '') AS folded
  FROM stack_samples
),
sums AS (
  SELECT
    trace_id, rank, step, folded,
    sum(cpu_ns) AS cpu_ns,
    sum(kernels) AS kernels,
    sum(gpu_ns) AS gpu_ns,
    sum(alloc_space_bytes) AS alloc_bytes
  FROM filtered
  GROUP BY trace_id, rank, step, folded
)
SELECT
  trace_id, rank, step,
  coalesce(stack_leaf(unfold_stack(folded)), '(outside of modules)') AS module,
  CASE WHEN folded = '' THEN '(outside of modules)' ELSE folded END AS folded,
  CAST(coalesce(array_length(unfold_stack(folded)), 0) AS BIGINT) AS depth,
  cpu_ns, kernels, gpu_ns, alloc_bytes
FROM sums
