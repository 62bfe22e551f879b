-- Rows of _operator_shapes with the size of the data read and the shapes of the results.
--
-- The data read is that of the tensors. A tensor without dimensions has one element. An argument
-- that is not a tensor has a type without a width.
-- @scope store
WITH listed AS (
    SELECT
        id + 0 AS call_id,
        name, reads,
        unnest(shapes) AS shape,
        unnest(types) AS type,
        unnest(range(0, arguments_count)) AS position
    FROM _operator_shapes
),
tensors AS (
    SELECT
        call_id, name, position,
        try_cast(json_get_array(shape) AS BIGINT[]) AS dims,
        dtype_bytes(btrim(type, '"')) AS width,
        shape
    FROM listed
    WHERE position < reads
),
counted AS (
    SELECT
        *,
        CASE
            WHEN array_length(dims) > 0 THEN try_cast(array_product(dims) AS BIGINT)
            WHEN width IS NOT NULL THEN 1
        END AS elements
    FROM tensors
),
inputs AS (
    SELECT
        call_id,
        sum(elements * width) AS read_bytes,
        bool_or(elements IS NOT NULL AND width IS NULL OR shape LIKE '%[[%') AS is_unknown,
        CASE WHEN right(name, 1) = '_'
            THEN max(CASE WHEN position = 0 THEN width END)
            ELSE coalesce(max(CASE WHEN array_length(dims) > 0 THEN width END), max(width))
        END AS widest_bytes
    FROM counted
    GROUP BY call_id, name
),
-- For broadcasting, sizes are matched from the last dimension.
sizes AS (
    SELECT
        call_id + 0 AS read_id,
        unnest(array_reverse(dims)) AS size,
        unnest(range(0, array_length(dims))) AS dimension
    FROM counted
    WHERE width IS NOT NULL AND array_length(dims) > 0
),
broadcast AS (
    SELECT read_id, try_cast(array_product(array_agg(size)) AS BIGINT) AS elements
    FROM (
        SELECT read_id, dimension, CASE WHEN min(size) = 0 THEN 0 ELSE max(size) END AS size
        FROM sizes
        GROUP BY read_id, dimension
    ) AS s
    GROUP BY read_id
),
reduced AS (
    SELECT call_id, array_agg(CASE WHEN dim < 0 THEN dim + rank_of ELSE dim END) AS dims
    FROM (
        SELECT
            id + 0 AS call_id, CAST(array_length(x) AS BIGINT) AS rank_of,
            unnest(CASE WHEN starts_with(dims_text, '[')
                THEN try_cast(json_get_array(dims_text) AS BIGINT[])
                ELSE make_array(try_cast(dims_text AS BIGINT))
            END) AS dim
        FROM _operator_shapes
        WHERE dims_text <> ''
    ) AS d
    GROUP BY call_id
)
SELECT
    p.*, i.read_bytes AS all_read_bytes, i.is_unknown, r.dims AS dims,
    coalesce(p.result_bytes, i.widest_bytes) AS width,
    CASE WHEN b.read_id IS NULL THEN 1 ELSE b.elements END AS result_elements,
    CASE
        WHEN array_length(p.x) > 0 THEN try_cast(array_product(p.x) AS BIGINT)
        ELSE 1
    END AS x_elements,
    CASE
        WHEN array_length(p.w) > 0 THEN try_cast(array_product(p.w) AS BIGINT)
        ELSE 1
    END AS w_elements,
    CAST(coalesce(array_length(p.x), 0) AS BIGINT) AS x_dims,
    CAST(coalesce(array_length(p.w), 0) AS BIGINT) AS w_dims
FROM _operator_shapes p
LEFT JOIN inputs i ON i.call_id = p.id
LEFT JOIN broadcast b ON b.read_id = p.id
LEFT JOIN reduced r ON r.call_id = p.id
