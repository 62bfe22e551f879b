-- As _role_overlaps, of the ranges and steps of torch-tb-profiler 0.4.3.
WITH edges AS (
    SELECT trace_id, start_us AS at FROM _tb_steps
    UNION
    SELECT trace_id, end_us FROM _tb_steps
),
points AS (
    SELECT trace_id, start_us AS at, role, 1 AS d FROM _tb_role_ranges
    UNION ALL
    SELECT trace_id, end_us, role, -1 FROM _tb_role_ranges
    UNION ALL
    SELECT trace_id, at, -1, 1 FROM edges
),
instants AS (
    SELECT
        trace_id, at,
        sum(CASE WHEN role = 0 THEN d ELSE 0 END) AS d0,
        sum(CASE WHEN role = 1 THEN d ELSE 0 END) AS d1,
        sum(CASE WHEN role = 2 THEN d ELSE 0 END) AS d2,
        sum(CASE WHEN role = 3 THEN d ELSE 0 END) AS d3,
        sum(CASE WHEN role = 4 THEN d ELSE 0 END) AS d4,
        sum(CASE WHEN role = 5 THEN d ELSE 0 END) AS d5,
        sum(CASE WHEN role = 6 THEN d ELSE 0 END) AS d6,
        sum(CASE WHEN role = -1 THEN d ELSE 0 END) AS edge
    FROM points
    GROUP BY trace_id, at
),
segments AS (
    SELECT
        trace_id,
        lead(at) OVER w - at AS len_us,
        sum(edge) OVER w AS cell,
        CASE WHEN sum(d0) OVER w > 0 THEN 1 ELSE 0 END
            + CASE WHEN sum(d1) OVER w > 0 THEN 2 ELSE 0 END
            + CASE WHEN sum(d2) OVER w > 0 THEN 4 ELSE 0 END
            + CASE WHEN sum(d3) OVER w > 0 THEN 8 ELSE 0 END
            + CASE WHEN sum(d4) OVER w > 0 THEN 16 ELSE 0 END
            + CASE WHEN sum(d5) OVER w > 0 THEN 32 ELSE 0 END
            + CASE WHEN sum(d6) OVER w > 0 THEN 64 ELSE 0 END AS mask
    FROM instants
    WINDOW w AS (PARTITION BY trace_id ORDER BY at)
),
lengths AS (
    SELECT trace_id, cell, mask, sum(len_us) AS len_us
    FROM segments
    WHERE cell > 0 AND len_us > 0
    GROUP BY trace_id, cell, mask
),
cells AS (
    SELECT trace_id, CAST(row_number() OVER w AS BIGINT) AS cell, at AS start_us, lead(at) OVER w AS end_us
    FROM edges
    WINDOW w AS (PARTITION BY trace_id ORDER BY at)
),
cells_of AS (
    SELECT s.trace_id, s.ordinal, c.cell
    FROM _tb_steps s
    JOIN cells c ON c.trace_id = s.trace_id AND c.start_us >= s.start_us AND c.end_us <= s.end_us
)
SELECT o.trace_id, o.ordinal, l.mask, sum(l.len_us) AS len_us
FROM cells_of o
JOIN lengths l ON l.trace_id = o.trace_id AND l.cell = o.cell
GROUP BY o.trace_id, o.ordinal, l.mask
