-- Host marks of collectives with the size of their inputs, if shapes were recorded.
--
-- A size is a product of up to six dimensions, multiplied by the size of the type. It is NULL if
-- the trace has no shapes.
-- @scope trace
WITH tensors AS (
    SELECT
        trace_id, event_id,
        unnest(
            string_to_array(
                regexp_replace(replace(input_dims, ' ', ''), '^\[+|\]+$', '', 'g'), '],['
            )
        ) AS dims,
        unnest(
            string_to_array(
                regexp_replace(replace(input_types, '", "', '","'), '^\["|"\]$', '', 'g'), '","'
            )
        ) AS type
    FROM _collective_marks
    WHERE input_dims LIKE '[[%' AND input_dims NOT LIKE '%[[[%'
),
elements AS (
    SELECT
        trace_id, event_id, type,
        coalesce(try_cast(nullif(split_part(dims, ',', 1), '') AS BIGINT), 1)
            * coalesce(try_cast(nullif(split_part(dims, ',', 2), '') AS BIGINT), 1)
            * coalesce(try_cast(nullif(split_part(dims, ',', 3), '') AS BIGINT), 1)
                * coalesce(try_cast(nullif(split_part(dims, ',', 4), '') AS BIGINT), 1)
            * coalesce(try_cast(nullif(split_part(dims, ',', 5), '') AS BIGINT), 1)
                * coalesce(try_cast(nullif(split_part(dims, ',', 6), '') AS BIGINT), 1)
            AS elements
    FROM tensors
    WHERE dims IS NOT NULL
),
sizes AS (
    SELECT
        trace_id, event_id,
        sum(elements * dtype_bytes(type)) AS bytes,
        sum(elements) AS elements,
        max(type) AS dtype
    FROM elements
    GROUP BY trace_id, event_id
)
SELECT
    m.trace_id, m.event_id, m.track_id, m.step, m.name, m.ts_ns, m.end_ns, m.dur_ns, s.bytes,
    s.elements, s.dtype
FROM _collective_marks m
LEFT JOIN sizes s ON s.trace_id = m.trace_id AND s.event_id = m.event_id
