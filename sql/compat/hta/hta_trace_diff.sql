-- Names in the first step of two traces, with counts and durations, as Holistic Trace Analysis
-- 0.6.1 compares them.
--
-- One row per pair of compare_pairs and name of any row, on the host or on devices. The first step
-- is the one with the lowest number. Host rows belong to the step with the highest number whose
-- time holds their start; device rows to that of their host row, but only on streams above 0. Rows
-- are in whole microseconds, those of the last step included.
--
-- Source: compare_traces and ops_diff of HTA 0.6.1; operator_diff and kernel_diff compare whole
--   traces with exact times.
-- Example: SELECT name, control_counts, test_counts, diff_duration_us FROM hta_trace_diff
--   ORDER BY abs(diff_duration_us) DESC LIMIT 5
-- Holds: diff_counts = test_counts - control_counts
-- Holds: diff_duration_us = test_total_duration_us - control_total_duration_us
-- Range: any diff_counts, diff_duration_us; a difference.
-- Range: any control_total_duration_us, test_total_duration_us; an event below 1 us can have -1.
--
-- @scope store
-- @column base_trace_id VARCHAR text The trace compared with: HTA's control.
-- @column cand_trace_id VARCHAR text The trace that is compared: HTA's test.
-- @column trace_id VARCHAR text The same as cand_trace_id.
-- @column name VARCHAR text Name of rows.
-- @column control_counts BIGINT count Rows in the base; 0 if it has none.
-- @column control_total_duration_us BIGINT us Sum of their durations.
-- @column test_counts BIGINT count Rows in the candidate; 0 if it has none.
-- @column test_total_duration_us BIGINT us Sum of their durations.
-- @column diff_counts BIGINT count Candidate less base.
-- @column diff_duration_us BIGINT us Candidate less base.
-- @column counts_change_categories VARCHAR text + for more rows, - for fewer, = for as many.
-- @column ops_diff VARCHAR text added, deleted, increased, decreased or unchanged.
WITH sides AS (
    SELECT
        p.base_trace_id, p.cand_trace_id, n.name,
        n.counts AS control_counts,
        n.total_us AS control_us,
        0 AS test_counts,
        0 AS test_us
    FROM compare_pairs p
    JOIN _hta_first_step n ON n.trace_id = p.base_trace_id
    UNION ALL
    SELECT p.base_trace_id, p.cand_trace_id, n.name, 0, 0, n.counts, n.total_us
    FROM compare_pairs p
    JOIN _hta_first_step n ON n.trace_id = p.cand_trace_id
),
sums AS (
    SELECT
        base_trace_id, cand_trace_id, name,
        sum(control_counts) AS control_counts,
        sum(control_us) AS control_us,
        sum(test_counts) AS test_counts,
        sum(test_us) AS test_us
    FROM sides
    GROUP BY base_trace_id, cand_trace_id, name
)
SELECT
    base_trace_id, cand_trace_id, cand_trace_id AS trace_id, name,
    control_counts,
    control_us AS control_total_duration_us,
    test_counts,
    test_us AS test_total_duration_us,
    test_counts - control_counts AS diff_counts,
    test_us - control_us AS diff_duration_us,
    CASE
        WHEN test_counts > control_counts THEN '+'
        WHEN test_counts < control_counts THEN '-'
        ELSE '='
    END AS counts_change_categories,
    CASE
        WHEN control_counts = 0 THEN 'added'
        WHEN test_counts = 0 THEN 'deleted'
        WHEN test_counts > control_counts THEN 'increased'
        WHEN test_counts < control_counts THEN 'decreased'
        ELSE 'unchanged'
    END AS ops_diff
FROM sums
