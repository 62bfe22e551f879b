-- Call graph of the host: callers and callees with their self and total time on host and device.
--
-- One row per path of names from the outermost call of a thread: steps, regions, modules, operators
-- and runtime calls. Numbers of steps and of module instances are left out of names. host_total_ns
-- of a row is its host_self_ns and the totals of its children, except for calls that partly
-- overlap; the same holds on the device, where time belongs to the runtime call that launched the
-- work. Device work without a launch in the trace is the row (unattributed).
--
-- Source: the call graph of PRISM's training profiler, by nesting instead of dotted names, so that
--   no time counts twice.
-- Example: SELECT depth, name, calls, host_total_ns, device_total_ns FROM call_graph ORDER BY path
--   LIMIT 10
-- Holds: host_self_ns <= host_total_ns AND device_self_ns <= device_total_ns
-- Holds: sum(device_self_ns) OVER (PARTITION BY trace_id) = sum(CASE WHEN depth = 0 THEN
--   device_total_ns END) OVER (PARTITION BY trace_id)
-- Range: sum host_total_ns, host_self_ns, device_total_ns, device_self_ns
-- Parts: device_self_ns BY trace_id OF stack_samples.gpu_ns
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column path VARCHAR text Names from the outermost call, joined by semicolons.
-- @column parent_path VARCHAR text Path of the call around; NULL for the outermost.
-- @column name VARCHAR text The last name of the path.
-- @column depth BIGINT count Number of calls around.
-- @column calls BIGINT count Number of calls.
-- @column host_total_ns BIGINT ns Sum of their durations.
-- @column host_self_ns BIGINT ns The same without the calls inside.
-- @column host_total_pct DOUBLE pct host_total_ns as percent of the outermost calls' sum; NULL if
--   that is 0.
-- @column device_total_ns BIGINT ns Device time launched by the calls and all calls inside.
-- @column device_self_ns BIGINT ns Device time launched by the calls themselves, which are runtime
--   calls.
-- @column device_total_pct DOUBLE pct device_total_ns as percent of all device time of the trace;
--   NULL if there is none.
WITH work AS (
    SELECT stack, trace_id, calls, total_ns, self_ns, device_ns FROM _call_graph
    UNION ALL
    SELECT make_array('(unattributed)'), trace_id, 0, 0, 0, sum(dur_ns)
    FROM kernels
    WHERE launch_id IS NULL AND kind IN ('kernel', 'memcpy', 'memset') AND dur_ns IS NOT NULL
    GROUP BY trace_id
),
-- A path and each enclosing path: device work belongs to the totals of all of them.
spread AS (
    SELECT
        *,
        CAST(array_length(stack) AS BIGINT) AS places,
        unnest(range(1, CAST(array_length(stack) AS BIGINT) + 1)) AS place
    FROM work
),
placed AS (
    SELECT *, array_slice(stack, 1, place) AS prefix, place = places AS is_own FROM spread
),
rows AS (
    SELECT
        trace_id, fold_stack(prefix) AS path, first_value(prefix) AS stack,
        sum(CASE WHEN is_own THEN calls ELSE 0 END) AS calls,
        sum(CASE WHEN is_own THEN total_ns ELSE 0 END) AS host_total_ns,
        sum(CASE WHEN is_own THEN self_ns ELSE 0 END) AS host_self_ns,
        sum(CASE WHEN is_own THEN device_ns ELSE 0 END) AS device_self_ns,
        sum(device_ns) AS device_total_ns
    FROM placed
    GROUP BY trace_id, fold_stack(prefix)
),
shares AS (
    SELECT
        *,
        sum(
            CASE WHEN array_length(stack) = 1 THEN host_total_ns ELSE 0 END
        ) OVER (PARTITION BY trace_id) AS all_host_ns,
        sum(device_self_ns) OVER (PARTITION BY trace_id) AS all_device_ns
    FROM rows
)
SELECT
    s.trace_id, t.rank, s.path,
    CASE WHEN array_length(s.stack) > 1 THEN fold_stack(array_pop_back(s.stack)) END AS parent_path,
    stack_leaf(s.stack) AS name,
    CAST(array_length(s.stack) AS BIGINT) - 1 AS depth,
    s.calls, s.host_total_ns, s.host_self_ns,
    100.0 * s.host_total_ns / nullif(s.all_host_ns, 0) AS host_total_pct,
    s.device_total_ns, s.device_self_ns,
    100.0 * s.device_total_ns / nullif(s.all_device_ns, 0) AS device_total_pct
FROM shares s
JOIN traces t ON t.trace_id = s.trace_id
