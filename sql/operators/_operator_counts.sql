-- The operations, bytes read and bytes written by one call of each row of _operator_results.
-- is_measurable is true if all of them are known.
-- @scope store by name, input_shapes, input_types, arguments
WITH results AS (
    SELECT
        *,
        CASE
            WHEN form = 'matmul' AND product_elements IS NOT NULL
                THEN 2 * product_elements * x[x_dims]
            WHEN form = 'linear' THEN 2 * product_elements * x[x_dims]
            WHEN form = 'convolution' AND is_transposed
                THEN 2 * x_elements / nullif(x[2], 0) * w_elements
            WHEN form = 'convolution' THEN 2 * x[1] * positions * w_elements
            WHEN form = 'convolution_backward' AND array_length(masks) = 3 THEN
                2 * CASE WHEN is_transposed
                    THEN try_cast(array_product(input_dims) AS BIGINT) / nullif(input_dims[2], 0)
                    ELSE x_elements / nullif(weight_dims[1], 0)
                END * try_cast(array_product(weight_dims) AS BIGINT)
                * (
                    CASE masks[1]
                        WHEN 'true' THEN 1
                        ELSE 0
                    END + CASE masks[2] WHEN 'true' THEN 1 ELSE 0 END
                )
            -- The forward pass has two products of 2 operations. The backward pass has five
            -- products, one of which repeats the scores.
            WHEN attention_products IS NOT NULL
                THEN attention_products
                    * scores
                    * (x[4] + value[4])
                    / CASE WHEN is_causal THEN 2 ELSE 1 END
            WHEN form = 'map' THEN flop_per_element * result_elements
            WHEN form IN ('like_first', 'reduction') THEN flop_per_element * x_elements
            WHEN form IN ('gather', 'copy', 'fill') THEN 0
        END AS flop,
        CASE
            WHEN form = 'convolution_backward' THEN
                x_elements * x_bytes
                + CASE masks[2]
                    WHEN 'true' THEN try_cast(array_product(input_dims) AS BIGINT) * x_bytes
                    ELSE 0
                END
                + CASE masks[1]
                    WHEN 'true' THEN try_cast(array_product(weight_dims) AS BIGINT) * x_bytes
                    ELSE 0
                END
            WHEN form = 'gather' THEN w_elements * w_bytes
                + CASE
                    WHEN name = 'aten::gather' THEN w_elements
                    WHEN dims_at IS NULL THEN w_elements * x_elements / nullif(x[1], 0)
                    ELSE w_elements * x_elements / nullif(x[dims[1] + 1], 0)
                END * x_bytes
            WHEN form = 'copy' THEN w_elements * w_bytes
            WHEN form = 'fill' THEN 0
            ELSE all_read_bytes
        END AS read_bytes,
        CASE
            WHEN form IN ('matmul', 'linear', 'convolution') THEN product_elements * x_bytes
            WHEN form = 'convolution_backward' AND array_length(masks) = 3 THEN x_bytes * (
                CASE masks[1]
                    WHEN 'true' THEN try_cast(array_product(input_dims) AS BIGINT)
                    ELSE 0
                END
                + CASE masks[2]
                    WHEN 'true' THEN try_cast(array_product(weight_dims) AS BIGINT)
                    ELSE 0
                END
                + CASE masks[3]
                    WHEN 'true'
                        THEN CASE WHEN is_transposed THEN weight_dims[2] ELSE weight_dims[1] END
                    ELSE 0
                END
            )
            WHEN form = 'attention' THEN x_elements / nullif(x[4], 0) * value[4] * x_bytes
            WHEN form = 'attention_backward'
                THEN (
                    x_elements
                        + try_cast(array_product(key) AS BIGINT)
                        + try_cast(array_product(value) AS BIGINT)
                ) * x_bytes
            WHEN form = 'map' THEN result_elements * width
            WHEN form IN ('like_first', 'copy', 'fill') THEN x_elements * x_bytes
            WHEN form = 'reduction' AND (arguments_count <= 2 OR dims_text IN ('', '[]')) THEN width
            WHEN form = 'reduction'
                THEN width * x_elements / CASE
                    WHEN array_length(dims) > 0 THEN nullif(
                        coalesce(x[dims[1] + 1], 1)
                            * coalesce(x[dims[2] + 1], 1)
                            * coalesce(x[dims[3] + 1], 1)
                            * coalesce(x[dims[4] + 1], 1)
                            * coalesce(x[dims[5] + 1], 1),
                        0
                    )
                END
            WHEN form = 'gather' THEN CASE
                    WHEN name = 'aten::gather' THEN w_elements
                    WHEN dims_at IS NULL THEN w_elements * x_elements / nullif(x[1], 0)
                    ELSE w_elements * x_elements / nullif(x[dims[1] + 1], 0)
                END * x_bytes
        END AS written_bytes
    FROM _operator_results
)
SELECT
    name, input_shapes, input_types, arguments, dtype, is_unknown, flop, read_bytes, written_bytes,
    NOT coalesce(is_unknown, false)
        AND coalesce(flop >= 0 AND read_bytes >= 0 AND written_bytes >= 0, false) AS is_measurable
FROM results
