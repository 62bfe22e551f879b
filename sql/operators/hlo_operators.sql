-- Operators of compiled programs (HLO) in XPlane files: calls, time, operations, bytes.
--
-- A row is an operator of a program on a device; device is NULL for programs on the host. Times in
-- picoseconds are sums as recorded. On TPUs device_ps is the time on the undisturbed clock of the
-- device, which xprof adds up. Operators that enclose those of their body (while, conditional,
-- call) have rows; their self_ns excludes the body.
--
-- Source: the figures of an operator in XPlane; calls and device_ps equal xprof's hlo_stats.
-- Example: SELECT name, category, calls, total_ps FROM hlo_operators ORDER BY total_ps DESC LIMIT 5
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column device BIGINT id Number of the device; NULL for programs on the host.
-- @column module VARCHAR text Name of the program; NULL if not recorded.
-- @column program_id VARCHAR id Id of the program; NULL if not recorded.
-- @column category VARCHAR text Category that the compiler gave (hlo_category); NULL if not
--   recorded.
-- @column name VARCHAR text Name of the operator.
-- @column calls BIGINT count Number of calls.
-- @column total_ns BIGINT ns Sum of durations.
-- @column self_ns BIGINT ns Sum of durations without the operators within.
-- @column total_ps BIGINT number Sum of durations in picoseconds, as recorded.
-- @column device_ps BIGINT number Sum of durations on the clock of the device, in picoseconds; NULL
--   if not recorded.
-- @column flops BIGINT flop Floating-point operations of all calls, as the compiler counted them;
--   NULL if not recorded.
-- @column accessed_bytes BIGINT bytes Bytes that all calls read and write; NULL if not recorded.
SELECT
    trace_id, device, module, program_id, category, name,
    count(*) AS calls,
    sum(dur_ns) AS total_ns,
    sum(self_ns) AS self_ns,
    sum(dur_ps) AS total_ps,
    sum(device_ps) AS device_ps,
    sum(flops) AS flops,
    sum(bytes_accessed) AS accessed_bytes
FROM _hlo_events
GROUP BY trace_id, device, module, program_id, category, name
