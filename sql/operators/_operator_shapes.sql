-- Each operator of operator_formulas with each list of shapes, types and arguments of its calls,
-- split into single values.
--
-- arguments is NULL if the formula does not need values of arguments. id numbers the rows. Texts
-- that are not numbers become NULL.
-- @scope store
WITH distinct_calls AS (
    SELECT DISTINCT
        e.name, e.input_dims AS input_shapes, e.input_types,
        CASE
            WHEN coalesce(f.dims_at, f.causal_at, f.stride_at, f.mask_at) IS NOT NULL
                THEN e.concrete_inputs
        END AS arguments
    FROM events e
    JOIN operator_formulas f ON f.name = e.name
    WHERE e.input_dims IS NOT NULL AND e.input_types IS NOT NULL
),
formed AS (
    SELECT
        c.*, f.form, f.reads,
        coalesce(f.first, 0) AS first,
        f.second, f.flop_per_element, f.result_bytes, f.heads_at, f.dims_at, f.causal_at,
        f.stride_at, f.padding_at, f.dilation_at, f.transposed_at, f.output_padding_at, f.groups_at,
        f.mask_at,
        row_number() OVER (ORDER BY c.name, c.input_shapes, c.input_types, c.arguments) AS id,
        json_get_array(c.input_shapes) AS shapes,
        json_get_array(c.input_types) AS types,
        json_get_array(c.arguments) AS given
    FROM distinct_calls c
    JOIN operator_formulas f ON f.name = c.name
    WHERE json_length(c.input_shapes) > 0
)
-- Texts of arguments lose their quotes, and lists become lists of numbers.
SELECT
    *,
    try_cast(json_get_array(shapes[first + 1]) AS BIGINT[]) AS x,
    try_cast(json_get_array(shapes[second + 1]) AS BIGINT[]) AS w,
    btrim(types[first + 1], '"') AS dtype,
    dtype_bytes(btrim(types[first + 1], '"')) AS x_bytes,
    dtype_bytes(btrim(types[second + 1], '"')) AS w_bytes,
    try_cast(json_get_array(btrim(given[stride_at + 1], '"')) AS BIGINT[]) AS stride,
    try_cast(json_get_array(btrim(given[padding_at + 1], '"')) AS BIGINT[]) AS padding,
    CASE
        WHEN dilation_at IS NULL THEN make_array(1, 1, 1)
        ELSE try_cast(json_get_array(btrim(given[dilation_at + 1], '"')) AS BIGINT[])
    END AS dilation,
    coalesce(btrim(given[transposed_at + 1], '"') = 'True', transposed_at IS NULL)
        AND transposed_at IS NOT NULL AS is_transposed,
    try_cast(
        json_get_array(btrim(given[output_padding_at + 1], '"')) AS BIGINT[]
    ) AS output_padding,
    coalesce(try_cast(btrim(given[groups_at + 1], '"') AS BIGINT), 1) AS groups,
    json_get_array(lower(btrim(given[mask_at + 1], '"'))) AS masks,
    btrim(given[causal_at + 1], '"') IN ('True', '1', '2') AS is_causal,
    btrim(given[dims_at + 1], '"') AS dims_text,
    array_length(shapes) AS arguments_count
FROM formed
