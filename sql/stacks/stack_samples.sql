-- Cost of stacks: host time, device time and memory, one row per event, device activity or
-- allocation.
--
-- cpu_ns of host rows is self time, so sums over the stacks of a thread are its busy time and sums
-- over all stacks that hold a frame are the time inside of it. gpu_ns stands at the stack that
-- launched the work, whenever it ran. `tracesql pprof`, `folded`, `flamegraph` and `speedscope`
-- read this view.
--
-- Samples of folded stacks and of speedscope profiles have their weight in samples, cpu_ns or
-- alloc_space_bytes, by its unit.
--
-- Source: event_stacks, kernel_stacks, alloc_stacks and profile_samples.
-- Example: SELECT sum(samples) AS events, sum(cpu_ns) AS cpu_ns, sum(gpu_ns) AS gpu_ns
--   FROM stack_samples
-- Range: sum gpu_ns
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank; NULL if not recorded.
-- @column pid BIGINT id Process; NULL if it is no number, or for device work without a launch.
-- @column tid BIGINT id Thread; NULL if it is no number, or for device work without a launch.
-- @column thread VARCHAR text Name of the thread, else its id; NULL for device work without a
--   launch.
-- @column device BIGINT id Device of device work and of allocations.
-- @column stream BIGINT id Stream of device work.
-- @column step BIGINT id Step; NULL outside of steps.
-- @column name VARCHAR text The last frame.
-- @column samples BIGINT count 1 for a host event, the weight of a sample; else 0.
-- @column cpu_ns BIGINT ns Host time without children; 0 for other rows and without an end.
-- @column gpu_ns BIGINT ns Device time launched here; 0 for other rows.
-- @column kernels BIGINT count 1 for a device activity, else 0.
-- @column alloc_space_bytes BIGINT bytes Bytes allocated here; 0 for other rows.
-- @column alloc_objects BIGINT count 1 for an allocation, else 0.
-- @column stack VARCHAR[] list Frames, root first.
WITH parts AS (
  SELECT
    trace_id, track_id, CAST(NULL AS BIGINT) AS device, CAST(NULL AS BIGINT) AS stream, step, name,
    1 AS samples,
    coalesce(self_ns, 0) AS cpu_ns,
    0 AS gpu_ns,
    0 AS kernels,
    0 AS alloc_space_bytes,
    0 AS alloc_objects,
    stack
  FROM event_stacks
  UNION ALL
  SELECT trace_id, track_id, device, stream, step, name, 0, 0, coalesce(dur_ns, 0), 1, 0, 0, stack
  FROM kernel_stacks
  UNION ALL
  SELECT trace_id, track_id, device, NULL, step, stack_leaf(stack), 0, 0, 0, 0, bytes, 1, stack
  FROM alloc_stacks
  UNION ALL
  SELECT
    trace_id, track_id, NULL, NULL, NULL, stack_leaf(stack), samples, cpu_ns, 0, 0, bytes, 0, stack
  FROM profile_samples
)
SELECT
  p.trace_id, t.rank, h.pid, h.tid, h.thread, p.device, p.stream, p.step, p.name,
  p.samples, p.cpu_ns, p.gpu_ns, p.kernels, p.alloc_space_bytes, p.alloc_objects, p.stack
FROM parts p
JOIN traces t ON t.trace_id = p.trace_id
LEFT JOIN _host_tracks h ON h.trace_id = p.trace_id AND h.track_id = p.track_id
