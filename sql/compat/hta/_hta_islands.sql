-- Stretches in which device rows of HTA follow each other without a gap, of all types together and
-- of each type.
--
-- work_type is ALL for the first. Rows that touch are one stretch. A row of duration -1 on its own
-- makes a stretch of that length, as in HTA.
-- @scope trace
WITH typed AS (
    SELECT trace_id, 'ALL' AS work_type, event_id, start_us, end_us FROM _hta_work
    UNION ALL
    SELECT trace_id, work_type, event_id, start_us, end_us FROM _hta_work
),
marked AS (
    SELECT
        trace_id, work_type, event_id, start_us, end_us,
        CASE
            WHEN start_us > max(end_us) OVER (
                PARTITION BY trace_id, work_type ORDER BY start_us, end_us, event_id
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) THEN 1
            ELSE 0
        END AS is_new
    FROM typed
),
numbered AS (
    SELECT
        trace_id, work_type, start_us, end_us,
        running_sum(is_new) OVER (
            PARTITION BY trace_id, work_type ORDER BY start_us, end_us, event_id
        ) AS island
    FROM marked
)
SELECT trace_id, work_type, min(start_us) AS start_us, max(end_us) AS end_us
FROM numbered
GROUP BY trace_id, work_type, island
