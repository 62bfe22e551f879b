-- Formulas of operators in the form that operator_figures takes: a form, and its options as a text.
--
-- One row per row of operator_formulas. A name that ends with * is for all operators whose names
-- begin so. options lists the columns of the formula that are not NULL, as name=value, and then
-- those of the column options; in_place marks operators that change their first argument.
--
-- Source: operator_formulas.
-- Example: SELECT form, unit, options FROM operator_forms WHERE name = 'aten::addmm'
--
-- @scope store by name
-- @column name VARCHAR text Name of the operator, or its beginning and *.
-- @column form VARCHAR text How it is counted.
-- @column unit VARCHAR text matrix or vector: the units of the device that it runs on.
-- @column is_wrapper BOOLEAN flag Whether it only calls other operators, which own the device work.
-- @column needs_values BOOLEAN flag Whether the figures depend on values of arguments.
-- @column options VARCHAR text The options of the form.
SELECT
    name, form, unit, is_wrapper,
    coalesce(dims_at, causal_at, stride_at, padding_at, mask_at) IS NOT NULL
        OR form IN ('pool', 'adaptive_pool', 'upsample', 'transform')
        OR coalesce(regexp_like(options, '(out_dtype|longest|chosen_value|window)_at='), false)
        AS needs_values,
    concat_ws(
        ' ',
        'unit=' || unit,
        CASE WHEN right(name, 1) = '_' AND right(name, 2) <> '__' THEN 'in_place' END,
        'reads=' || reads,
        'first=' || first,
        'second=' || second,
        'flop_per_element=' || flop_per_element,
        'result_bytes=' || result_bytes,
        'dims_at=' || dims_at,
        'heads_at=' || heads_at,
        'causal_at=' || causal_at,
        'stride_at=' || stride_at,
        'padding_at=' || padding_at,
        'dilation_at=' || dilation_at,
        'transposed_at=' || transposed_at,
        'output_padding_at=' || output_padding_at,
        'groups_at=' || groups_at,
        'mask_at=' || mask_at,
        nullif(options, '')
    ) AS options
FROM operator_formulas
