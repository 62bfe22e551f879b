-- Floating point operations of calls, by PyTorch's own formulas, from the shapes and values of
-- their inputs.
--
-- A matrix product counts as 2 m n k. aten::conv2d counts 2 per weight and output element, and
-- aten::add and aten::mul count the elements of their first input. flops is NULL if shapes were not
-- recorded. For aten::conv2d it is also NULL if the values of stride, padding, dilation and groups
-- were not recorded (they are since PyTorch 2.0).
-- @scope trace
WITH calls AS (
    SELECT
        trace_id, event_id, name,
        CASE WHEN name IN ('aten::addmm', 'aten::baddbmm') THEN 2 ELSE 1 END AS first,
        string_to_array(
            regexp_replace(replace(input_dims, ' ', ''), '^\[\[|\]\]$', '', 'g'), '],['
        ) AS shapes,
        string_to_array(
            replace(trim(BOTH '[]' FROM (concrete_inputs ->> 3)), ' ', ''), ','
        ) AS stride,
        string_to_array(
            replace(trim(BOTH '[]' FROM (concrete_inputs ->> 4)), ' ', ''), ','
        ) AS padding,
        string_to_array(
            replace(trim(BOTH '[]' FROM (concrete_inputs ->> 5)), ' ', ''), ','
        ) AS dilation,
        try_cast((concrete_inputs ->> 6) AS BIGINT) AS groups
    FROM events
    WHERE cat IN ('cpu_op', 'Operator', 'operator')
        AND name IN (
            'aten::mm', 'aten::addmm', 'aten::bmm', 'aten::baddbmm', 'aten::conv2d', 'aten::add',
            'aten::mul'
        )
),
numbers AS (
    SELECT
        *,
        try_cast(nullif(string_to_array(shapes[first], ','), ['']) AS BIGINT[]) AS a,
        try_cast(nullif(string_to_array(shapes[first + 1], ','), ['']) AS BIGINT[]) AS b,
        try_cast(coalesce(stride[1], '') AS BIGINT) AS stride_h,
        try_cast(coalesce(stride[2], stride[1]) AS BIGINT) AS stride_w,
        try_cast(padding[1] AS BIGINT) AS padding_h,
        try_cast(coalesce(padding[2], padding[1]) AS BIGINT) AS padding_w,
        try_cast(dilation[1] AS BIGINT) AS dilation_h,
        try_cast(coalesce(dilation[2], dilation[1]) AS BIGINT) AS dilation_w
    FROM calls
)
SELECT
    trace_id, event_id, name,
    CASE
        WHEN name IN ('aten::mm', 'aten::addmm') THEN 2 * a[1] * a[2] * b[2]
        WHEN name IN ('aten::bmm', 'aten::baddbmm') THEN 2 * a[1] * a[2] * a[3] * b[3]
        WHEN name IN ('aten::add', 'aten::mul') THEN CASE
            WHEN shapes[1] = '' THEN 0
            WHEN array_length(a) <= 8 THEN
                a[1]
                    * coalesce(a[2], 1)
                    * coalesce(a[3], 1)
                    * coalesce(a[4], 1)
                    * coalesce(a[5], 1)
                    * coalesce(a[6], 1)
                    * coalesce(a[7], 1)
                    * coalesce(a[8], 1)
        END
        WHEN array_length(a) = 4 AND array_length(b) = 4 THEN
            2 * a[1] * a[2] * b[1] * b[3] * b[4]
            * ((a[3] + 2 * padding_h - dilation_h * (b[3] - 1) - 1) / nullif(stride_h, 0) + 1)
            * ((a[4] + 2 * padding_w - dilation_w * (b[4] - 1) - 1) / nullif(stride_w, 0) + 1)
            / nullif(groups, 0)
    END AS flops
FROM numbers
