-- Like _role_overlaps, with the ranges and steps of torch-tb-profiler 0.4.3.
-- @scope trace
WITH ticks AS (
    SELECT
        r.trace_id, r.set, r.ordinal,
        CAST(r.start_us * c.ticks_per_us AS BIGINT) AS ts_ns,
        CAST(r.end_us * c.ticks_per_us AS BIGINT) AS end_ns
    FROM (
        SELECT trace_id, role AS set, CAST(NULL AS BIGINT) AS ordinal, start_us, end_us
        FROM _tb_role_ranges
        UNION ALL
        SELECT trace_id, 7, ordinal, start_us, end_us FROM _tb_steps
    ) r
    JOIN _tb_clock c ON c.trace_id = r.trace_id
),
pieces AS (
    SELECT trace_id, b_ordinal AS ordinal, a_set AS set, ts_ns, end_ns
    FROM interval_intersect(
        (SELECT trace_id, set, ts_ns, end_ns FROM ticks),
        (SELECT trace_id, ordinal, ts_ns, end_ns FROM ticks WHERE set = 7),
        by => trace_id)
),
lengths AS (
    SELECT trace_id, ordinal, unnest(interval_overlap_len(ts_ns, end_ns, set)) AS o
    FROM pieces
    GROUP BY trace_id, ordinal
)
SELECT l.trace_id, l.ordinal, l.o['sets'] - 128 AS mask, l.o['len'] / c.ticks_per_us AS len_us
FROM lengths l
JOIN _tb_clock c ON c.trace_id = l.trace_id
WHERE l.o['sets'] >= 128
