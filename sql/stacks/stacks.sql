-- Cost of each distinct stack of a thread: host time, device time and memory.
--
-- One row per trace, thread and stack, added up over steps; `stack_samples` has the single rows. A
-- stack's own cost is in its row; the cost of a frame with all that it calls is the sum over the
-- stacks that hold it, `stack_contains(stack, 'frame')`. Frames are as `fold_stack` writes them.
-- cpu_pct is the share of all cpu_ns of the trace, gpu_pct that of gpu_ns; both add up to 100 over
-- the trace. Work without a launch in the trace has no thread.
--
-- Source: stack_samples.
-- Example: SELECT folded, cpu_ns, gpu_ns FROM stacks ORDER BY gpu_ns DESC LIMIT 5
-- Holds: abs(sum(cpu_pct) OVER (PARTITION BY trace_id) - 100) < 0.000001
-- Holds: abs(sum(gpu_pct) OVER (PARTITION BY trace_id) - 100) < 0.000001
-- Parts: cpu_ns BY trace_id OF stack_samples.cpu_ns
-- Parts: gpu_ns BY trace_id OF stack_samples.gpu_ns
-- Range: sum cpu_ns, gpu_ns
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank; NULL if not recorded.
-- @column thread VARCHAR text Name of the thread, else its id; NULL for device work without a
--   launch.
-- @column folded VARCHAR text The stack as one text, `root;…;leaf`.
-- @column stack VARCHAR[] list Frames, root first.
-- @column depth BIGINT count Number of frames.
-- @column samples BIGINT count Host events with exactly this stack.
-- @column cpu_ns BIGINT ns Host time without children.
-- @column cpu_pct DOUBLE pct cpu_ns as percent of all host time of the trace; NULL if there is
--   none.
-- @column kernels BIGINT count Device activities launched with exactly this stack.
-- @column gpu_ns BIGINT ns Their time.
-- @column gpu_pct DOUBLE pct gpu_ns as percent of all device time of the trace; NULL if there is
--   none.
-- @column alloc_objects BIGINT count Allocations.
-- @column alloc_bytes BIGINT bytes Bytes allocated.
WITH by_text AS (
  SELECT
    trace_id, rank, thread,
    fold_stack(stack) AS folded,
    sum(samples) AS samples,
    sum(cpu_ns) AS cpu_ns,
    sum(kernels) AS kernels,
    sum(gpu_ns) AS gpu_ns,
    sum(alloc_objects) AS alloc_objects,
    sum(alloc_space_bytes) AS alloc_bytes
  FROM stack_samples
  GROUP BY trace_id, rank, thread, fold_stack(stack)
),
with_stack AS (SELECT *, unfold_stack(folded) AS stack FROM by_text)
SELECT
  trace_id, rank, thread, folded, stack,
  CAST(array_length(stack) AS BIGINT) AS depth,
  samples, cpu_ns,
  100.0 * cpu_ns / NULLIF(sum(cpu_ns) OVER (PARTITION BY trace_id), 0) AS cpu_pct, kernels, gpu_ns,
  100.0 * gpu_ns / NULLIF(sum(gpu_ns) OVER (PARTITION BY trace_id), 0) AS gpu_pct,
  alloc_objects, alloc_bytes
FROM with_stack
