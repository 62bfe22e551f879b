-- The time for which each combination of roles was active in each step. Bit r of mask is set while
-- role r of _role_ranges is active.
-- @scope trace
WITH pieces AS (
    SELECT trace_id, b_ordinal AS ordinal, a_role AS role, ts_ns, end_ns
    FROM interval_intersect(
        (SELECT trace_id, role, start_ns AS ts_ns, end_ns FROM _role_ranges),
        (SELECT trace_id, ordinal, start_ns AS ts_ns, end_ns FROM _steps),
        by => trace_id)
    UNION ALL
    SELECT trace_id, ordinal, 8, start_ns, end_ns FROM _steps
),
lengths AS (
    SELECT trace_id, ordinal, unnest(interval_overlap_len(ts_ns, end_ns, role)) AS o
    FROM pieces
    GROUP BY trace_id, ordinal
)
SELECT trace_id, ordinal, o['sets'] - 256 AS mask, o['len'] AS len_ns FROM lengths
