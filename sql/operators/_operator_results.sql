-- Rows of _operator_inputs with the sizes of results: positions of convolutions, elements of
-- products, scores of attention.
--
-- The positions are those in the output of a convolution with up to three spatial dimensions. A
-- stride of one number applies to all dimensions.
-- @scope store
WITH spatial AS (
    SELECT
        *,
        CASE WHEN form = 'convolution' AND x_dims = w_dims AND x_dims BETWEEN 3 AND 5 THEN
            CASE WHEN is_transposed THEN
                (
                    (x[3] - 1) * stride[1]
                        - 2 * padding[1]
                        + dilation[1] * (w[3] - 1)
                        + output_padding[1]
                        + 1
                )
                * CASE
                    WHEN x_dims > 3 THEN (x[4] - 1) * coalesce(stride[2], stride[1])
                        - 2 * coalesce(padding[2], padding[1])
                        + coalesce(dilation[2], dilation[1]) * (w[4] - 1)
                        + coalesce(output_padding[2], output_padding[1]) + 1
                    ELSE 1
                END
                * CASE
                    WHEN x_dims > 4 THEN (x[5] - 1) * coalesce(stride[3], stride[1])
                        - 2 * coalesce(padding[3], padding[1])
                        + coalesce(dilation[3], dilation[1]) * (w[5] - 1)
                        + coalesce(output_padding[3], output_padding[1]) + 1
                    ELSE 1
                END
            ELSE
                ((x[3] + 2 * padding[1] - dilation[1] * (w[3] - 1) - 1) / nullif(stride[1], 0) + 1)
                * CASE WHEN x_dims > 3 THEN (x[4] + 2 * coalesce(padding[2], padding[1])
                    - coalesce(dilation[2], dilation[1]) * (w[4] - 1) - 1
                ) / nullif(coalesce(stride[2], stride[1]), 0) + 1 ELSE 1 END
                * CASE WHEN x_dims > 4 THEN (x[5] + 2 * coalesce(padding[3], padding[1])
                    - coalesce(dilation[3], dilation[1]) * (w[5] - 1) - 1
                ) / nullif(coalesce(stride[3], stride[1]), 0) + 1 ELSE 1 END
            END
        END AS positions,
        -- In the backward pass, gradient, input and weight are the first three arguments.
        try_cast(json_get_array(shapes[2]) AS BIGINT[]) AS input_dims,
        try_cast(json_get_array(shapes[3]) AS BIGINT[]) AS weight_dims,
        -- Attention has query, key and value. heads_at is 1 or 2, and the other of these dimensions
        -- is the length.
        try_cast(json_get_array(shapes[first + 2]) AS BIGINT[]) AS key,
        try_cast(json_get_array(shapes[first + 3]) AS BIGINT[]) AS value
    FROM _operator_inputs
)
-- Matrix products of several dimensions: either only one factor has a batch, or both have the same
-- one.
SELECT
    *,
    CASE
        WHEN form = 'matmul' AND x_dims >= 2 AND w_dims >= 2 AND x[x_dims] = w[w_dims - 1] THEN
            x[x_dims - 1] * w[w_dims] * CASE
                WHEN w_elements = w[w_dims] * w[w_dims - 1]
                    THEN x_elements / nullif(x[x_dims] * x[x_dims - 1], 0)
                WHEN x_elements = x[x_dims] * x[x_dims - 1]
                    THEN w_elements / nullif(w[w_dims] * w[w_dims - 1], 0)
                WHEN array_slice(x, 1, x_dims - 2) = array_slice(w, 1, w_dims - 2)
                    THEN x_elements / nullif(x[x_dims] * x[x_dims - 1], 0)
            END
        WHEN form = 'matmul' AND w_dims = 1 AND x_dims >= 1 AND x[x_dims] = w[1]
            THEN x_elements / nullif(w[1], 0)
        WHEN form = 'linear' AND w_dims = 2 AND x_dims >= 1 AND x[x_dims] = w[2]
            THEN x_elements / nullif(w[2], 0) * w[1]
        WHEN form = 'convolution'
            THEN x[1] * positions * CASE WHEN is_transposed THEN w[2] * groups ELSE w[1] END
    END AS product_elements,
    CASE form WHEN 'attention' THEN 2 WHEN 'attention_backward' THEN 5 END AS attention_products,
    CASE
        WHEN form IN ('attention', 'attention_backward')
            AND x_dims = 4 AND array_length(key) = 4 AND array_length(value) = 4
        -- Batch, heads and lengths. A head of the value may have a different size from that of the
        -- key.
        THEN x[1] * x[heads_at + 1] * x[4 - heads_at] * key[4 - heads_at]
    END AS scores
FROM spatial
