-- Names of kernels for which the use of tensor or matrix cores is unclear, by device, with a
-- prepared rule for each.
--
-- One row per name, class and device: products, convolutions, attention and recurrences whose
-- matrix_unit in kernel_classes is unclear. A trace with shapes (record_shapes=True) records the
-- types of inputs, which decide in many cases. The last six columns are those of name_rules. The
-- rule is of kernel_matrix_unit, whose patterns see the class, a blank and the plain name, with a
-- question mark for yes or no; where the class came from the operator and not from the name, such a
-- rule would not be asked, and the rule is the one of kernel_class that must be added first.
-- Kernels without a class are in unclassified_kernels.
--
-- Source: kernel_classes; `tracesql docs kernel_classification` says how rules are added.
-- Example: SELECT name, class, activities, share_pct, pattern FROM unclear_matrix_units
--   ORDER BY total_ns DESC, name
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column device BIGINT id Device; NULL where none was written.
-- @column name VARCHAR text Name of the kernels; NULL where none was written.
-- @column class VARCHAR text As in kernel_classes.
-- @column class_evidence VARCHAR text As in kernel_classes.
-- @column plain_name VARCHAR text The name as rules see it: plain_name(name).
-- @column activities BIGINT count Kernels of this name and class for which it is unclear.
-- @column total_ns BIGINT ns Sum of their durations.
-- @column kernel_ns BIGINT ns Sum of the durations of all kernels of the device, communication
--   included, copies and fills not.
-- @column share_pct DOUBLE pct total_ns as percent of kernel_ns; NULL if that is 0.
-- @column ruleset VARCHAR text kernel_matrix_unit, or kernel_class where a rule for the class must
--   come first.
-- @column priority BIGINT number -1 for the name that took longest, -2 for the next: before all
--   built-in rules, and each rule with a priority of its own.
-- @column pattern VARCHAR text A regular expression that finds this name and others that begin like
--   it.
-- @column value VARCHAR text A question mark, to be replaced by yes or no; the class where the rule
--   is one of kernel_class.
-- @column source VARCHAR text own.
-- @column description VARCHAR text What the rule is for.
WITH timed AS (
    SELECT trace_id, device, name, class, class_evidence, matrix_unit, dur_ns
    FROM kernel_classes
    WHERE kind = 'kernel' AND dur_ns >= 0
),
wholes AS (
    SELECT trace_id, device, sum(dur_ns) AS kernel_ns FROM timed GROUP BY trace_id, device
),
named AS (
    SELECT
        trace_id, device, name, class, class_evidence,
        count(*) AS activities,
        sum(dur_ns) AS total_ns
    FROM timed
    WHERE class <> 'unclassified' AND matrix_unit = 'unclear'
    GROUP BY trace_id, device, name, class, class_evidence
)
SELECT
    n.trace_id, t.rank, n.device, n.name, n.class, n.class_evidence, p.plain_name, n.activities,
    n.total_ns, w.kernel_ns,
    100.0 * n.total_ns / nullif(w.kernel_ns, 0) AS share_pct,
    CASE
        WHEN n.class_evidence = 'name' THEN 'kernel_matrix_unit'
        ELSE 'kernel_class'
    END AS ruleset,
    -CAST(
        row_number() OVER (
            PARTITION BY n.trace_id
            ORDER BY n.total_ns DESC, n.name, n.class, n.class_evidence, n.device
        ) AS BIGINT
    ) AS priority,
    '^' || CASE WHEN n.class_evidence = 'name' THEN n.class || ' ' ELSE '' END
        || p.beginning_pattern AS pattern,
    CASE WHEN n.class_evidence = 'name' THEN '?' ELSE n.class END AS value,
    'own' AS source,
    CASE
        WHEN n.class_evidence = 'name' THEN 'Whether it runs on matrix units.'
        ELSE 'The class that its operator has.'
    END AS description
FROM named n
JOIN traces t ON t.trace_id = n.trace_id
JOIN wholes w ON w.trace_id = n.trace_id AND w.device IS NOT DISTINCT FROM n.device
LEFT JOIN _kernel_name_patterns p ON p.name = n.name
