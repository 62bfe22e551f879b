-- Kernels below operators whose name contains a text, as Holistic Trace Analysis 0.6.1 has them.
--
-- The setting hta_operator_name is the text. Of the rows with such a name, only those count that
-- have the fewest calls around them of all such rows of the trace, and of these only those with at
-- least hta_min_pattern_len kernels below. Depths are those of events.depth; HTA also moves the
-- thread of the backward pass below an annotation. Rows are those that HTA keeps: whole
-- microseconds, without the last step.
--
-- Source: get_frequent_cuda_kernel_sequences of HTA 0.6.1; operator_kernels has all operators at
--   once, kernel_sequences repeated sequences on streams.
-- Example: SELECT pattern, calls, gpu_kernel_duration_us FROM hta_kernel_sequences
--   ORDER BY calls DESC, pattern LIMIT 5
-- Range: any gpu_kernel_duration_us, cpu_op_duration_us; an event below 1 us can have -1.
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column pattern VARCHAR text Name of the operator and its kernels by start, joined by "|".
-- @column calls BIGINT count Calls with this pattern.
-- @column gpu_kernel_duration_us BIGINT us Sum of the durations of kernels.
-- @column cpu_op_duration_us BIGINT us Sum of the durations of calls.
WITH candidates AS (
    SELECT
        r.trace_id, r.event_id, r.name, r.dur_us, e.pre, e.post, e.depth,
        min(e.depth) OVER (PARTITION BY r.trace_id) AS least_depth
    FROM _hta_rows r
    JOIN events e ON e.trace_id = r.trace_id AND e.event_id = r.event_id
    WHERE contains(r.name, setting_text('hta_operator_name'))
),
places AS (
    SELECT
        trace_id, pre, event_id AS op_id, post AS op_post, CAST(NULL AS BIGINT) AS launch_id
    FROM candidates
    WHERE depth = least_depth
    UNION ALL
    SELECT e.trace_id, e.pre, NULL, NULL, e.event_id
    FROM (SELECT DISTINCT trace_id, launch_id FROM _hta_work WHERE launch_id IS NOT NULL) l
    JOIN events e ON e.trace_id = l.trace_id AND e.event_id = l.launch_id
),
placed AS (
    SELECT
        trace_id, launch_id, pre,
        last_known(op_id) OVER in_tree AS op_id,
        last_known(op_post) OVER in_tree AS op_post
    FROM places
    WINDOW in_tree AS (PARTITION BY trace_id ORDER BY pre)
),
names AS (
    SELECT trace_id, name, row_number() OVER (PARTITION BY trace_id ORDER BY name) AS name_id
    FROM (SELECT DISTINCT trace_id, name FROM _hta_work)
),
below AS (
    SELECT
        p.trace_id, p.op_id, w.dur_us, n.name_id,
        row_number() OVER (
            PARTITION BY p.trace_id, p.op_id ORDER BY w.start_us, w.event_id
        ) AS place
    FROM placed p
    JOIN _hta_work w ON w.trace_id = p.trace_id AND w.launch_id = p.launch_id
    JOIN names n ON n.trace_id = w.trace_id AND n.name = w.name
    WHERE p.pre <= p.op_post
),
-- A list of numbers that hold place and name: it is sorted after the fact, because array_agg in an
-- order is slow for many groups.
lists AS (
    SELECT
        trace_id, op_id,
        array_to_string(array_sort(array_agg(place * 4294967296 + name_id)), ' ') AS list,
        sum(dur_us) AS gpu_us
    FROM below
    GROUP BY trace_id, op_id
    HAVING count(*) >= setting_int('hta_min_pattern_len')
),
groups AS (
    SELECT
        l.trace_id, c.name, l.list,
        count(*) AS calls,
        sum(l.gpu_us) AS gpu_us,
        sum(c.dur_us) AS cpu_us,
        min(l.op_id) AS first_id
    FROM lists l
    JOIN candidates c ON c.trace_id = l.trace_id AND c.event_id = l.op_id
    GROUP BY l.trace_id, c.name, l.list
),
texts AS (
    SELECT
        b.trace_id, b.op_id,
        array_to_string(array_agg(n.name ORDER BY b.place), '|') AS kernels
    FROM groups g
    JOIN below b ON b.trace_id = g.trace_id AND b.op_id = g.first_id
    JOIN names n ON n.trace_id = b.trace_id AND n.name_id = b.name_id
    GROUP BY b.trace_id, b.op_id
)
SELECT
    g.trace_id, t.rank,
    concat(g.name, '|', x.kernels) AS pattern,
    g.calls,
    g.gpu_us AS gpu_kernel_duration_us,
    g.cpu_us AS cpu_op_duration_us
FROM groups g
JOIN traces t ON t.trace_id = g.trace_id
JOIN texts x ON x.trace_id = g.trace_id AND x.op_id = g.first_id
