-- Operators of the framework (JAX, TensorFlow) that compiled operators in XPlane files come from.
--
-- A row is a path such as `jit(train)/dot_general` on a device; device is NULL for programs on the
-- host. A compiled operator that fuses several of them counts for the one that the compiler recorded.
-- Compiled operators without one have a row under their own name, with type NULL. Times in
-- picoseconds are sums as recorded. On TPUs device_ps is the time on the undisturbed clock of the
-- device, which xprof adds up.
--
-- Source: tf_op and name of an operator in XPlane. On TPUs device_ps equals the total time of xprof's
--   framework_op_stats, whose occurrences are those of the most frequent compiled operator.
-- Example: SELECT type, name, calls, total_ps FROM framework_operators ORDER BY total_ps DESC LIMIT 5
-- Parts: total_ns BY trace_id, device OF hlo_operators.total_ns
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column device BIGINT id Number of the device; NULL for programs on the host.
-- @column type VARCHAR text Last part of the path, which is the operator; NULL if not recorded.
-- @column name VARCHAR text Path of the operator; the name of the compiled operator if not recorded.
-- @column hlo_operators BIGINT count Number of different compiled operators (hlo_operators.name).
-- @column calls BIGINT count Number of calls of them.
-- @column total_ns BIGINT ns Sum of durations.
-- @column self_ns BIGINT ns Sum of durations without the operators within.
-- @column total_ps BIGINT number Sum of durations in picoseconds, as recorded.
-- @column device_ps BIGINT number Sum of durations on the clock of the device, in picoseconds; NULL
--   if not recorded.
-- @column flops BIGINT flop Floating-point operations of all calls, as the compiler counted them;
--   NULL if not recorded.
-- @column accessed_bytes BIGINT bytes Bytes that all calls read and write; NULL if not recorded.
SELECT
    trace_id, device,
    regexp_replace(framework_path, '^.*/', '') AS type,
    coalesce(framework_path, name) AS name,
    count(DISTINCT name) AS hlo_operators,
    count(*) AS calls,
    sum(dur_ns) AS total_ns,
    sum(self_ns) AS self_ns,
    sum(dur_ps) AS total_ps,
    sum(device_ps) AS device_ps,
    sum(flops) AS flops,
    sum(bytes_accessed) AS accessed_bytes
FROM _hlo_events
GROUP BY trace_id, device, framework_path, coalesce(framework_path, name)
