-- Hardware counters of kernels, as CUPTI's range profiler records them, with the launch and the
-- operators of each.
--
-- One row per range (category cuda_profiler_range) and counter. A range is one kernel, but the
-- trace does not link it with a launch. If a trace has as many ranges as calls of cudaLaunchKernel,
-- the i-th range belongs to the i-th call (match is order). Otherwise a range belongs to the last
-- such call that began before it (match is time); several ranges can then have the same call, and
-- the link may be wrong. flop is the value times the operations of one instruction, for the SASS
-- counters of additions, multiplications and fused multiply-adds.
--
-- Source: get_cupti_counter_data_with_operators of Holistic Trace Analysis, which gives nothing
--   unless the numbers of ranges and calls are equal.
-- Example: SELECT kernel_name, op_name, counter, value FROM kernel_counters
--   ORDER BY value DESC LIMIT 5
-- Range: any value, flop; counters count anything.
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column event_id BIGINT id The range (events.event_id).
-- @column kernel_name VARCHAR text Its name, which is that of the kernel.
-- @column ts_ns BIGINT ns Its start.
-- @column counter VARCHAR text Name of the counter.
-- @column value DOUBLE number Its value.
-- @column flop DOUBLE flop Floating point operations that it stands for; NULL for other counters.
-- @column match VARCHAR text order, time, or none if there is no call before it.
-- @column launch_id BIGINT id The launch call (events.event_id); NULL for none.
-- @column op_id BIGINT id The innermost operator around it (events.event_id); NULL for none.
-- @column op_name VARCHAR text Its name.
-- @column outer_op_name VARCHAR text The outermost operator around the call.
-- @column op_stack VARCHAR text Names of all operators around the call, outermost first, joined by
--   ";".
WITH ranges AS (
    SELECT
        trace_id, event_id, name, ts_ns, args,
        row_number() OVER (PARTITION BY trace_id ORDER BY ts_ns, event_id) AS place,
        count(*) OVER (PARTITION BY trace_id) AS ranges
    FROM events
    WHERE cat = 'cuda_profiler_range' AND ts_ns IS NOT NULL
),
launches AS (
    SELECT
        e.trace_id, e.event_id, e.track_id, e.ts_ns,
        row_number() OVER (PARTITION BY e.trace_id ORDER BY e.ts_ns, e.event_id) AS place,
        count(*) OVER (PARTITION BY e.trace_id) AS launches
    FROM events e
    JOIN (SELECT DISTINCT trace_id FROM ranges) r ON r.trace_id = e.trace_id
    WHERE e.cat = 'cuda_runtime' AND starts_with(e.name, 'cudaLaunchKernel') AND e.ts_ns IS NOT NULL
),
amounts AS (SELECT trace_id, max(launches) AS launches FROM launches GROUP BY trace_id),
before AS (
    SELECT trace_id, event_id, right_event_id AS launch_id
    FROM asof_join(
        (SELECT trace_id, event_id, ts_ns FROM ranges),
        (SELECT trace_id, event_id, ts_ns FROM launches),
        by => trace_id
    )
),
paired AS (
    SELECT
        r.trace_id, r.event_id, r.name, r.ts_ns, r.args,
        CASE WHEN r.ranges = a.launches THEN l.event_id ELSE b.launch_id END AS launch_id,
        CASE
            WHEN r.ranges = a.launches THEN 'order'
            WHEN b.launch_id IS NOT NULL THEN 'time'
            ELSE 'none'
        END AS match
    FROM ranges r
    LEFT JOIN amounts a ON a.trace_id = r.trace_id
    LEFT JOIN launches l ON l.trace_id = r.trace_id AND l.place = r.place
    LEFT JOIN before b ON b.trace_id = r.trace_id AND b.event_id = r.event_id
),
stacks AS (
    SELECT
        trace_id, a_event_id AS launch_id,
        last_value(b_event_id ORDER BY b_pre) AS op_id,
        last_value(b_name ORDER BY b_pre) AS op_name,
        first_value(b_name ORDER BY b_pre) AS outer_op_name,
        array_to_string(array_agg(b_name ORDER BY b_pre), ';') AS op_stack
    FROM interval_intersect(
        (SELECT trace_id, track_id, event_id, ts_ns, ts_ns + 1 AS end_ns FROM launches),
        (
            SELECT e.trace_id, e.track_id, e.event_id, e.name, e.pre, e.ts_ns, e.end_ns
            FROM events e
            JOIN amounts a ON a.trace_id = e.trace_id
            WHERE e.cat = 'cpu_op' AND e.ph IN ('X', 'B') AND e.name IS NOT NULL
        ),
        by => (trace_id, track_id)
    )
    GROUP BY trace_id, a_event_id
),
series AS (
    SELECT *, unnest(json_object_keys(args)) AS counter FROM paired
),
counted AS (
    SELECT *, json_get_float(args, counter) AS value FROM series
)
SELECT
    c.trace_id, t.rank, c.event_id,
    c.name AS kernel_name,
    c.ts_ns, c.counter, c.value,
    CASE
        WHEN regexp_like(c.counter, '^smsp__sass_thread_inst_executed_op_[fhd]fma_pred_on[.]sum$')
            THEN 2 * c.value
        WHEN regexp_like(
            c.counter, '^smsp__sass_thread_inst_executed_op_[fhd](add|mul)_pred_on[.]sum$'
        ) THEN c.value
    END AS flop,
    c.match, c.launch_id, s.op_id, s.op_name, s.outer_op_name, s.op_stack
FROM counted c
JOIN traces t ON t.trace_id = c.trace_id
LEFT JOIN stacks s ON s.trace_id = c.trace_id AND s.launch_id = c.launch_id
WHERE c.value IS NOT NULL
