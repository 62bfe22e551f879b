-- Operators that take an unusually large share of the time on the device or on the host.
--
-- An operator is hot on the device if its own kernels, copies and fills are more than
-- hot_operation_pct (10) percent of all device time, and on the host if its own time is more than
-- the same share of the time of all operators. severity is high above hot_operation_high_pct (30),
-- else medium. Own times are used, so that nothing counts twice. The severity is about size alone;
-- rule_hot_operation says which of them are faults. In XPlane files operators are those of compiled
-- programs, as in framework_operators, and shares are of the own time of all of them there.
--
-- Source: the hot operation rule of PRISM's training profiler, with own times instead of nested
--   totals.
-- Example: SELECT place, name, share_pct, severity FROM hot_operations ORDER BY share_pct DESC
-- Range: sum self_ns
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column place VARCHAR text device or host.
-- @column name VARCHAR text Name of the operator.
-- @column calls BIGINT count Number of calls.
-- @column self_ns BIGINT ns Its own time there.
-- @column share_pct DOUBLE pct self_ns as percent of all device time, or of the own time of all
--   operators on the host.
-- @column threshold_pct DOUBLE pct The share above which it is hot.
-- @column severity VARCHAR text medium or high.
WITH shares AS (
    SELECT *, 100.0 * self_ns / nullif(all_ns, 0) AS share_pct FROM _operation_times WHERE calls > 0
)
SELECT
    trace_id, rank, place, name, calls, self_ns, share_pct,
    setting('hot_operation_pct') AS threshold_pct,
    CASE
        WHEN share_pct > setting('hot_operation_high_pct') THEN 'high'
        ELSE 'medium'
    END AS severity
FROM shares
WHERE share_pct > setting('hot_operation_pct')
