-- What two traces have in common and where they differ, by the rows of one view.
-- @expand operator_diff of="operators" keys="name" v_keys="v.name" operators
--   host_total="Sum of host durations" host_self="Host time without what is inside"
--   device_total="Device time launched by the calls and all inside"
--   device_self="Device time launched by the calls themselves"
-- @expand module_diff of="module_tree" keys="path" v_keys="v.path" modules
--   host_total="Time of the calls" host_self="The same without operators and modules inside"
--   device_total="Device time launched by the module and all inside"
--   device_self="Device time launched by the module itself"
-- @expand subtree_diff of="call_graph" keys="path, parent_path, name, depth" subtrees
--   v_keys="v.path, v.parent_path, v.name, v.depth"
--   host_total="Sum of host durations" host_self="Host time without what is inside"
--   device_total="Device time launched by the calls and all inside"
--   device_self="Device time launched by the calls themselves"
--
-- @if operators
-- Operators of two traces side by side: calls, host time, device time and the differences.
--
-- One row per pair of compare_pairs and name of an operator; operators that only one of the two has
-- keep their row. Sums are over whole traces: where the two differ in their number of steps,
-- compare means per step (steps in step_time_average) or filter the traces. The row (unattributed)
-- is device time that no operator launched.
--
-- Source: the diff view of torch-tb-profiler 0.4.3, over the whole trace.
-- Example: SELECT name, base_calls, cand_calls, host_self_delta_ns FROM operator_diff
--   ORDER BY abs(host_self_delta_ns) DESC LIMIT 5
-- @end
-- @if modules
-- Modules of two traces side by side: calls, host time, device time and the differences.
--
-- One row per pair of compare_pairs and path of module_tree. The row with a NULL path is device
-- time launched outside of modules.
--
-- Source: module_tree.
-- Example: SELECT path, host_total_delta_ns, device_total_delta_ns FROM module_diff
--   ORDER BY abs(host_total_delta_ns) DESC LIMIT 5
-- @end
-- @if subtrees
-- Call graphs of two traces side by side: every subtree from steps down to runtime calls, with its
-- differences.
--
-- One row per pair of compare_pairs and path of call_graph, in which numbers of steps and of module
-- instances are left out, so that both sides meet. Totals hold all that is inside, so a path can be
-- followed down to where a difference comes from; self deltas add up to the whole difference.
--
-- Source: the diff view of torch-tb-profiler 0.4.3, which pairs single steps and marks in their
--   order and stops where names differ; here all calls of a path are one row.
-- Example: SELECT depth, path, host_total_delta_ns FROM subtree_diff WHERE depth < 3
--   ORDER BY abs(host_total_delta_ns) DESC LIMIT 5
-- @end
-- Holds: host_total_delta_ns = cand_host_total_ns - base_host_total_ns
-- Holds: host_self_delta_ns = cand_host_self_ns - base_host_self_ns
-- Holds: device_total_delta_ns = cand_device_total_ns - base_device_total_ns
-- Holds: device_self_delta_ns = cand_device_self_ns - base_device_self_ns
-- Holds: calls_delta = cand_calls - base_calls
-- Range: sum base_host_total_ns, cand_host_total_ns, base_host_self_ns, cand_host_self_ns,
--   base_device_total_ns, cand_device_total_ns, base_device_self_ns, cand_device_self_ns
-- Range: any calls_delta, host_total_delta_ns, host_self_delta_ns, device_total_delta_ns,
--   device_self_delta_ns; a difference.
-- Range: any calls_delta_pct, host_total_delta_pct, host_self_delta_pct, device_total_delta_pct,
--   device_self_delta_pct; a difference as percent of the base, which may be small.
--
-- @scope store
-- @column base_trace_id VARCHAR text The trace compared with.
-- @column cand_trace_id VARCHAR text The trace that is compared.
-- @column trace_id VARCHAR text The same as cand_trace_id.
-- @if operators
-- @column name VARCHAR text Name of the operator.
-- @end
-- @if modules
-- @column path VARCHAR text Names from the outermost module, joined by dots; NULL for work outside
--   of modules.
-- @end
-- @if subtrees
-- @column path VARCHAR text Names from the outermost call, joined by semicolons.
-- @column parent_path VARCHAR text Path of the call around; NULL for the outermost.
-- @column name VARCHAR text The last name of the path.
-- @column depth BIGINT count Number of calls around.
-- @end
-- @column status VARCHAR text both, removed if only the base has it, or added if only the candidate
--   does.
-- @column base_calls BIGINT count Number of calls in the base; 0 if it is not there.
-- @column cand_calls BIGINT count Number of calls in the candidate; 0 if it is not there.
-- @column calls_delta BIGINT count Candidate less base.
-- @column calls_delta_pct DOUBLE pct The same as percent of the base; NULL if that is 0.
-- @column base_host_total_ns BIGINT ns {host_total} in the base; 0 if it is not there.
-- @column cand_host_total_ns BIGINT ns {host_total} in the candidate; 0 if it is not there.
-- @column host_total_delta_ns BIGINT ns Candidate less base.
-- @column host_total_delta_pct DOUBLE pct The same as percent of the base; NULL if that is 0.
-- @column base_host_self_ns BIGINT ns {host_self} in the base; 0 if it is not there.
-- @column cand_host_self_ns BIGINT ns {host_self} in the candidate; 0 if it is not there.
-- @column host_self_delta_ns BIGINT ns Candidate less base.
-- @column host_self_delta_pct DOUBLE pct The same as percent of the base; NULL if that is 0.
-- @column base_device_total_ns BIGINT ns {device_total} in the base; 0 if it is not there.
-- @column cand_device_total_ns BIGINT ns {device_total} in the candidate; 0 if it is not there.
-- @column device_total_delta_ns BIGINT ns Candidate less base.
-- @column device_total_delta_pct DOUBLE pct The same as percent of the base; NULL if that is 0.
-- @column base_device_self_ns BIGINT ns {device_self} in the base; 0 if it is not there.
-- @column cand_device_self_ns BIGINT ns {device_self} in the candidate; 0 if it is not there.
-- @column device_self_delta_ns BIGINT ns Candidate less base.
-- @column device_self_delta_pct DOUBLE pct The same as percent of the base; NULL if that is 0.
WITH sides AS (
    SELECT p.base_trace_id, p.cand_trace_id, {v_keys}, 1 AS in_base, 0 AS in_cand,
        v.calls AS base_calls,
        0 AS cand_calls,
        v.host_total_ns AS base_host_total_ns,
        0 AS cand_host_total_ns,
        v.host_self_ns AS base_host_self_ns,
        0 AS cand_host_self_ns,
        v.device_total_ns AS base_device_total_ns,
        0 AS cand_device_total_ns,
        v.device_self_ns AS base_device_self_ns,
        0 AS cand_device_self_ns
    FROM compare_pairs p
    JOIN {of} v ON v.trace_id = p.base_trace_id
    UNION ALL
    SELECT p.base_trace_id, p.cand_trace_id, {v_keys}, 0, 1,
        0, v.calls, 0, v.host_total_ns, 0, v.host_self_ns, 0, v.device_total_ns, 0, v.device_self_ns
    FROM compare_pairs p
    JOIN {of} v ON v.trace_id = p.cand_trace_id
),
sums AS (
    SELECT
        base_trace_id, cand_trace_id, {keys},
        max(in_base) AS in_base, max(in_cand) AS in_cand,
        coalesce(sum(base_calls), 0) AS base_calls, coalesce(sum(cand_calls), 0) AS cand_calls,
        coalesce(sum(base_host_total_ns), 0) AS base_host_total_ns,
        coalesce(sum(cand_host_total_ns), 0) AS cand_host_total_ns,
        coalesce(sum(base_host_self_ns), 0) AS base_host_self_ns,
        coalesce(sum(cand_host_self_ns), 0) AS cand_host_self_ns,
        coalesce(sum(base_device_total_ns), 0) AS base_device_total_ns,
        coalesce(sum(cand_device_total_ns), 0) AS cand_device_total_ns,
        coalesce(sum(base_device_self_ns), 0) AS base_device_self_ns,
        coalesce(sum(cand_device_self_ns), 0) AS cand_device_self_ns
    FROM sides
    GROUP BY base_trace_id, cand_trace_id, {keys}
)
SELECT
    base_trace_id, cand_trace_id, cand_trace_id AS trace_id, {keys},
    CASE
        WHEN in_base = 1 AND in_cand = 1 THEN 'both'
        WHEN in_base = 1 THEN 'removed'
        ELSE 'added'
    END AS status,
    base_calls, cand_calls,
    cand_calls - base_calls AS calls_delta,
    100.0 * (cand_calls - base_calls) / nullif(base_calls, 0) AS calls_delta_pct,
    base_host_total_ns, cand_host_total_ns,
    cand_host_total_ns - base_host_total_ns AS host_total_delta_ns,
    100.0
        * (cand_host_total_ns - base_host_total_ns)
        / nullif(base_host_total_ns, 0) AS host_total_delta_pct,
    base_host_self_ns, cand_host_self_ns,
    cand_host_self_ns - base_host_self_ns AS host_self_delta_ns,
    100.0
        * (cand_host_self_ns - base_host_self_ns)
        / nullif(base_host_self_ns, 0) AS host_self_delta_pct,
    base_device_total_ns, cand_device_total_ns,
    cand_device_total_ns - base_device_total_ns AS device_total_delta_ns,
    100.0
        * (cand_device_total_ns - base_device_total_ns)
        / nullif(base_device_total_ns, 0) AS device_total_delta_pct,
    base_device_self_ns, cand_device_self_ns,
    cand_device_self_ns - base_device_self_ns AS device_self_delta_ns,
    100.0
        * (cand_device_self_ns - base_device_self_ns)
        / nullif(base_device_self_ns, 0) AS device_self_delta_pct
FROM sums
