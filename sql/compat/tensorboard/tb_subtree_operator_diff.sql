-- Operators inside of each row of tb_subtree_diff, on both sides.
--
-- One row per pair of compare_pairs, path of tb_subtree_diff and name of an operator that is in the
-- calls compared there, at any depth. What counts as an operator, and its self time, is as in
-- operators.
--
-- Source: the operator table of the diff view of torch-tb-profiler 0.4.3; equal to it to the
--   nanosecond where links are by nesting.
-- Example: SELECT name, base_calls, cand_calls, host_self_delta_ns FROM tb_subtree_operator_diff
--   WHERE path = '0' ORDER BY abs(host_self_delta_ns) DESC LIMIT 5
-- Holds: host_total_delta_ns = cand_host_total_ns - base_host_total_ns
-- Holds: host_self_delta_ns = cand_host_self_ns - base_host_self_ns
-- Holds: device_total_delta_ns = cand_device_total_ns - base_device_total_ns
-- Holds: device_self_delta_ns = cand_device_self_ns - base_device_self_ns
-- Range: sum base_host_total_ns, cand_host_total_ns, base_host_self_ns, cand_host_self_ns,
--   base_device_total_ns, cand_device_total_ns, base_device_self_ns, cand_device_self_ns
-- Range: any host_total_delta_ns, host_self_delta_ns, device_total_delta_ns, device_self_delta_ns;
--   a difference.
--
-- @scope store
-- @column base_trace_id VARCHAR text The trace compared with.
-- @column cand_trace_id VARCHAR text The trace that is compared.
-- @column trace_id VARCHAR text The same as cand_trace_id.
-- @column path VARCHAR text Path of the row of tb_subtree_diff.
-- @column name VARCHAR text Name of the operator.
-- @column base_calls BIGINT count Number of calls in the base; 0 if it is not there.
-- @column cand_calls BIGINT count Number of calls in the candidate; 0 if it is not there.
-- @column base_host_total_ns BIGINT ns Sum of host durations in the base; 0 if it is not there.
-- @column cand_host_total_ns BIGINT ns Sum of host durations in the candidate; 0 if it is not
--   there.
-- @column host_total_delta_ns BIGINT ns Candidate less base.
-- @column base_host_self_ns BIGINT ns Host time without what is inside in the base; 0 if it is not
--   there.
-- @column cand_host_self_ns BIGINT ns Host time without what is inside in the candidate; 0 if it is
--   not there.
-- @column host_self_delta_ns BIGINT ns Candidate less base.
-- @column base_device_total_ns BIGINT ns Device time launched by the calls and all inside in the
--   base; 0 if it is not there.
-- @column cand_device_total_ns BIGINT ns Device time launched by the calls and all inside in the
--   candidate; 0 if it is not there.
-- @column device_total_delta_ns BIGINT ns Candidate less base.
-- @column base_device_self_ns BIGINT ns Device time launched by the calls themselves in the base; 0
--   if it is not there.
-- @column cand_device_self_ns BIGINT ns Device time launched by the calls themselves in the
--   candidate; 0 if it is not there.
-- @column device_self_delta_ns BIGINT ns Candidate less base.
WITH own AS (
    SELECT
        a.base_trace_id, a.cand_trace_id, a.path, n.name,
        count(*) FILTER (WHERE a.side = 'base') AS base_calls,
        count(*) FILTER (WHERE a.side = 'cand') AS cand_calls,
        coalesce(sum(n.dur_ns) FILTER (WHERE a.side = 'base'), 0) AS base_host_total_ns,
        coalesce(sum(n.dur_ns) FILTER (WHERE a.side = 'cand'), 0) AS cand_host_total_ns,
        coalesce(sum(n.call_self_ns) FILTER (WHERE a.side = 'base'), 0) AS base_host_self_ns,
        coalesce(sum(n.call_self_ns) FILTER (WHERE a.side = 'cand'), 0) AS cand_host_self_ns,
        coalesce(sum(n.device_total_ns) FILTER (WHERE a.side = 'base'), 0) AS base_device_total_ns,
        coalesce(sum(n.device_total_ns) FILTER (WHERE a.side = 'cand'), 0) AS cand_device_total_ns,
        coalesce(sum(n.call_device_ns) FILTER (WHERE a.side = 'base'), 0) AS base_device_self_ns,
        coalesce(sum(n.call_device_ns) FILTER (WHERE a.side = 'cand'), 0) AS cand_device_self_ns
    FROM _aligned_calls a
    JOIN _alignable_calls n ON n.trace_id = a.trace_id AND n.event_id = a.event_id
    WHERE a.part = 'inside' AND n.is_listed
    GROUP BY a.base_trace_id, a.cand_trace_id, a.path, n.name
),
-- A path counts for each enclosing path: its first number, its first two numbers, and so on.
steps AS (
    SELECT *, string_to_array(path, '-') AS numbers FROM own
),
spread AS (
    SELECT *, unnest(range(1, CAST(array_length(numbers) AS BIGINT) + 1)) AS upto FROM steps
),
around AS (
    SELECT *, array_to_string(array_slice(numbers, 1, upto), '-') AS around_path FROM spread
),
sums AS (
    SELECT
        base_trace_id, cand_trace_id, around_path AS path, name,
        sum(base_calls) AS base_calls, sum(cand_calls) AS cand_calls,
        sum(base_host_total_ns) AS base_host_total_ns,
        sum(cand_host_total_ns) AS cand_host_total_ns,
        sum(base_host_self_ns) AS base_host_self_ns, sum(cand_host_self_ns) AS cand_host_self_ns,
        sum(base_device_total_ns) AS base_device_total_ns,
        sum(cand_device_total_ns) AS cand_device_total_ns,
        sum(base_device_self_ns) AS base_device_self_ns,
        sum(cand_device_self_ns) AS cand_device_self_ns
    FROM around
    GROUP BY base_trace_id, cand_trace_id, around_path, name
)
SELECT
    base_trace_id, cand_trace_id, cand_trace_id AS trace_id, path, name,
    base_calls, cand_calls,
    base_host_total_ns, cand_host_total_ns,
    cand_host_total_ns - base_host_total_ns AS host_total_delta_ns,
    base_host_self_ns, cand_host_self_ns,
    cand_host_self_ns - base_host_self_ns AS host_self_delta_ns,
    base_device_total_ns, cand_device_total_ns,
    cand_device_total_ns - base_device_total_ns AS device_total_delta_ns,
    base_device_self_ns, cand_device_self_ns,
    cand_device_self_ns - base_device_self_ns AS device_self_delta_ns
FROM sums
