-- How long each combination of roles was active in each step: bit r of mask is set while role r of _role_ranges is.
WITH points AS (
    SELECT trace_id, unnest([start_ns, end_ns]) AS at, role, unnest([1, -1]) AS d, 0 AS step FROM _role_ranges
    UNION ALL
    SELECT trace_id, unnest([start_ns, end_ns]), -1, 0, unnest([ordinal + 1, -1 - ordinal]) FROM _steps
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
        sum(step) AS step
    FROM points
    GROUP BY trace_id, at
),
segments AS (
    SELECT
        trace_id,
        lead(at) OVER w - at AS len_ns,
        sum(step) OVER w - 1 AS ordinal,
        CASE WHEN sum(d0) OVER w > 0 THEN 1 ELSE 0 END
            + CASE WHEN sum(d1) OVER w > 0 THEN 2 ELSE 0 END
            + CASE WHEN sum(d2) OVER w > 0 THEN 4 ELSE 0 END
            + CASE WHEN sum(d3) OVER w > 0 THEN 8 ELSE 0 END
            + CASE WHEN sum(d4) OVER w > 0 THEN 16 ELSE 0 END
            + CASE WHEN sum(d5) OVER w > 0 THEN 32 ELSE 0 END
            + CASE WHEN sum(d6) OVER w > 0 THEN 64 ELSE 0 END AS mask
    FROM instants
    WINDOW w AS (PARTITION BY trace_id ORDER BY at)
)
SELECT trace_id, ordinal, mask, sum(len_ns) AS len_ns
FROM segments
WHERE ordinal >= 0 AND len_ns > 0
GROUP BY trace_id, ordinal, mask
