-- Calls of two traces side by side as torch-tb-profiler 0.4.3 pairs them: one by one in their
-- order.
--
-- One row per pair of compare_pairs and path. The row 0 is all of the first thread: the calls
-- inside of steps, or all calls if there are no steps. A list of calls is cut at modules, data
-- loading and optimizer steps that both sides have, by name, each taking the first of its name
-- after those before it; such a pair is a row, and so is what lies between two of them. A row with
-- one call on each side is cut at the children of the two in the same way. A side with several
-- calls is called CompositeNodes, a side without any Blank. Numbers of module instances and kinds
-- of data loaders are part of names, so that runs which differ in them are paired badly;
-- subtree_diff leaves them out, adds up all calls of a path, and sees all threads. The plugin's
-- pairs of backward nodes, which it makes from flows, are missing here.
--
-- Source: the diff view of torch-tb-profiler 0.4.3; equal to it to the nanosecond where links are
--   by nesting.
-- Example: SELECT path, base_name, cand_name, host_total_delta_ns FROM tb_subtree_diff
--   ORDER BY abs(host_total_delta_ns) DESC LIMIT 5
-- Holds: host_total_delta_ns = cand_host_total_ns - base_host_total_ns
-- Holds: device_total_delta_ns = cand_device_total_ns - base_device_total_ns
-- Holds: total_delta_ns = cand_total_ns - base_total_ns
-- Range: sum base_host_total_ns, cand_host_total_ns, base_device_total_ns, cand_device_total_ns,
--   base_total_ns, cand_total_ns
-- Range: any host_total_delta_ns, device_total_delta_ns, total_delta_ns; a difference.
-- Range: any host_total_delta_pct, device_total_delta_pct, total_delta_pct; a difference as percent
--   of the base, which may be small.
--
-- @scope store
-- @column base_trace_id VARCHAR text The trace compared with.
-- @column cand_trace_id VARCHAR text The trace that is compared.
-- @column trace_id VARCHAR text The same as cand_trace_id.
-- @column path VARCHAR text Place of the row: 0 for all, 0-3 for the fourth part of it, and so on.
-- @column parent_path VARCHAR text Path of the row around; NULL for the first.
-- @column depth BIGINT count Number of rows around.
-- @column base_name VARCHAR text Name of the call in the base, CompositeNodes for several, Blank
--   for none.
-- @column cand_name VARCHAR text The same in the candidate.
-- @column base_calls BIGINT count Number of calls in the base.
-- @column cand_calls BIGINT count Number of calls in the candidate.
-- @column base_host_total_ns BIGINT ns Sum of their durations in the base.
-- @column cand_host_total_ns BIGINT ns The same in the candidate.
-- @column host_total_delta_ns BIGINT ns Candidate less base.
-- @column host_total_delta_pct DOUBLE pct The same as percent of the base; NULL if that is 0.
-- @column base_device_total_ns BIGINT ns Device time launched in them in the base.
-- @column cand_device_total_ns BIGINT ns The same in the candidate.
-- @column device_total_delta_ns BIGINT ns Candidate less base.
-- @column device_total_delta_pct DOUBLE pct The same as percent of the base; NULL if that is 0.
-- @column base_total_ns BIGINT ns Sum over the calls in the base of device time, or of the duration
--   for calls without any, as the plugin shows it.
-- @column cand_total_ns BIGINT ns The same in the candidate.
-- @column total_delta_ns BIGINT ns Candidate less base.
-- @column total_delta_pct DOUBLE pct The same as percent of the base; NULL if that is 0.
WITH calls AS (
    SELECT
        a.base_trace_id, a.cand_trace_id, a.path, a.side, n.name, n.dur_ns, n.device_total_ns,
        CASE WHEN n.device_total_ns <> 0 THEN n.device_total_ns ELSE n.dur_ns END AS total_ns
    FROM _aligned_calls a
    JOIN _alignable_calls n ON n.trace_id = a.trace_id AND n.event_id = a.event_id
    WHERE a.part = 'compared'
),
sums AS (
    SELECT
        base_trace_id, cand_trace_id, path,
        count(*) FILTER (WHERE side = 'base') AS base_calls,
        count(*) FILTER (WHERE side = 'cand') AS cand_calls,
        min(name) FILTER (WHERE side = 'base') AS base_name,
        min(name) FILTER (WHERE side = 'cand') AS cand_name,
        coalesce(sum(dur_ns) FILTER (WHERE side = 'base'), 0) AS base_host_total_ns,
        coalesce(sum(dur_ns) FILTER (WHERE side = 'cand'), 0) AS cand_host_total_ns,
        coalesce(sum(device_total_ns) FILTER (WHERE side = 'base'), 0) AS base_device_total_ns,
        coalesce(sum(device_total_ns) FILTER (WHERE side = 'cand'), 0) AS cand_device_total_ns,
        coalesce(sum(total_ns) FILTER (WHERE side = 'base'), 0) AS base_total_ns,
        coalesce(sum(total_ns) FILTER (WHERE side = 'cand'), 0) AS cand_total_ns
    FROM calls
    GROUP BY base_trace_id, cand_trace_id, path
)
SELECT
    base_trace_id, cand_trace_id, cand_trace_id AS trace_id, path,
    CASE WHEN contains(path, '-') THEN regexp_replace(path, '-[0-9]+$', '') END AS parent_path,
    CAST(length(path) - length(replace(path, '-', '')) AS BIGINT) AS depth,
    CASE
        WHEN base_calls = 0 THEN 'Blank'
        WHEN base_calls = 1 THEN base_name
        ELSE 'CompositeNodes'
    END AS base_name,
    CASE
        WHEN cand_calls = 0 THEN 'Blank'
        WHEN cand_calls = 1 THEN cand_name
        ELSE 'CompositeNodes'
    END AS cand_name,
    base_calls, cand_calls,
    base_host_total_ns, cand_host_total_ns,
    cand_host_total_ns - base_host_total_ns AS host_total_delta_ns,
    100.0
        * (cand_host_total_ns - base_host_total_ns)
        / nullif(base_host_total_ns, 0) AS host_total_delta_pct,
    base_device_total_ns, cand_device_total_ns,
    cand_device_total_ns - base_device_total_ns AS device_total_delta_ns,
    100.0
        * (cand_device_total_ns - base_device_total_ns)
        / nullif(base_device_total_ns, 0) AS device_total_delta_pct,
    base_total_ns, cand_total_ns, cand_total_ns - base_total_ns AS total_delta_ns,
    100.0 * (cand_total_ns - base_total_ns) / nullif(base_total_ns, 0) AS total_delta_pct
FROM sums
