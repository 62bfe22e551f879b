-- Names of kernels without a class, by device, with a prepared rule for each that lacks only the
-- class.
--
-- One row per name and device. Only the kernels that kernel_classes calls unclassified are counted:
-- others of the same name may have got their class from the operator or mark around their launch.
-- The last six columns are those of name_rules, so that they make a file of rules; replace the
-- question mark in value with a class. The pattern finds names with the same beginning, up to the
-- template arguments or parameters, on plain_name; make it shorter or longer where that fits
-- better. Names whose class is known but not whether they run on tensor or matrix cores are in
-- unclear_matrix_units.
--
-- Source: kernel_classes; `tracesql docs kernel_classification` says how rules are added.
-- Example: SELECT ruleset, priority, pattern, value, source, description FROM unclassified_kernels
--   ORDER BY total_ns DESC, name
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column device BIGINT id Device; NULL where none was written.
-- @column name VARCHAR text Name of the kernels; NULL where none was written.
-- @column plain_name VARCHAR text The name as rules see it: plain_name(name).
-- @column activities BIGINT count Kernels of this name that are unclassified.
-- @column total_ns BIGINT ns Sum of their durations.
-- @column kernel_ns BIGINT ns Sum of the durations of all kernels of the device, communication
--   included, copies and fills not.
-- @column share_pct DOUBLE pct total_ns as percent of kernel_ns; NULL if that is 0.
-- @column operator VARCHAR text The operator that launched most of them; NULL if no launch lies in
--   an operator.
-- @column ruleset VARCHAR text kernel_class.
-- @column priority BIGINT number -1 for the name that took longest, -2 for the next: before all
--   built-in rules, and each rule with a priority of its own.
-- @column pattern VARCHAR text A regular expression that finds this name and others that begin like
--   it.
-- @column value VARCHAR text A question mark, to be replaced by a class of kernel_names.
-- @column source VARCHAR text own.
-- @column description VARCHAR text What launched it, or Own kernels.
WITH timed AS (
    SELECT trace_id, device, name, class, op_id, dur_ns
    FROM kernel_classes
    WHERE kind = 'kernel' AND dur_ns >= 0
),
wholes AS (
    SELECT trace_id, device, sum(dur_ns) AS kernel_ns FROM timed GROUP BY trace_id, device
),
launched AS (
    SELECT
        k.trace_id, k.device, k.name,
        e.name AS operator,
        count(*) AS activities,
        sum(k.dur_ns) AS total_ns
    FROM timed k
    LEFT JOIN events e ON e.trace_id = k.trace_id AND e.event_id = k.op_id
    WHERE k.class = 'unclassified'
    GROUP BY k.trace_id, k.device, k.name, e.name
),
named AS (
    SELECT
        trace_id, device, name, sum(activities) AS activities, sum(total_ns) AS total_ns,
        first_value(
            operator ORDER BY CASE WHEN operator IS NULL THEN 0 ELSE activities END DESC, operator
        ) AS operator
    FROM launched
    GROUP BY trace_id, device, name
)
SELECT
    n.trace_id, t.rank, n.device, n.name, p.plain_name, n.activities, n.total_ns, w.kernel_ns,
    100.0 * n.total_ns / nullif(w.kernel_ns, 0) AS share_pct,
    n.operator,
    'kernel_class' AS ruleset,
    -CAST(
        row_number() OVER (
            PARTITION BY n.trace_id ORDER BY n.total_ns DESC, n.name, n.device
        ) AS BIGINT
    ) AS priority,
    '^' || p.beginning_pattern AS pattern,
    '?' AS value,
    'own' AS source,
    coalesce(
        'Launched by ' || regexp_replace(n.operator, '[[:cntrl:]]', ' ', 'g') || '.', 'Own kernels.'
    ) AS description
FROM named n
JOIN traces t ON t.trace_id = n.trace_id
JOIN wholes w ON w.trace_id = n.trace_id AND w.device IS NOT DISTINCT FROM n.device
LEFT JOIN _kernel_name_patterns p ON p.name = n.name
