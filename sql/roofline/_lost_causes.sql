-- The rows of operator_roofline that have a roofline, with the likely cause of their lost time and
-- the quantities behind it. lost_time writes both in words.
--
-- facts are causes that sizes, types and kernels show, in the order of docs/roofline.md, separated
-- by semicolons. Only without any of them the number of tiles, the length of rows or the rate is
-- the cause.
-- Each step computes every column that depends only on earlier steps, because fewer steps take
-- less time to plan.
-- @scope trace
WITH typed AS (
    SELECT
        o.*, o.name LIKE '%flash%' AND NOT starts_with(d.matched_device, 'mi') AS pads_to_known,
        s.call_site, d.units, d.tf32_tflop_s, d.bf16_tflop_s, d.fp16_tflop_s,
        coalesce(d.fp32_matrix_tflop_s, d.fp32_vector_tflop_s) AS fp32_tflop_s,
        -- The nearest type in which the device computes products much faster.
        CASE
            WHEN o.unit <> 'matrix' THEN NULL
            WHEN o.dtype = 'bf16' THEN 'fp16'
            WHEN o.dtype NOT IN ('fp64', 'fp32') THEN NULL
            WHEN d.tf32_tflop_s > 1.5 * o.peak_tflop_s THEN 'tf32'
            WHEN o.dtype = 'fp64' THEN 'fp32'
            WHEN d.bf16_tflop_s > 1.5 * o.peak_tflop_s THEN 'bf16'
            ELSE 'fp16'
        END AS faster_type,
        -- Elements in 16 bytes, which units for matrices read at once.
        CASE o.dtype
            WHEN 'fp16' THEN 8 WHEN 'bf16' THEN 8 WHEN 'fp8' THEN 16 WHEN 'int8' THEN 16
            WHEN 'tf32' THEN 4 WHEN 'fp4' THEN 32
        END AS multiple,
        o.unit = 'matrix' AND o.family IN ('gemm', 'moe') AND o.m > 0 AND o.n > 0 AND o.k > 0
            AS is_product,
        CASE
            WHEN o.unit = 'matrix' AND o.m > 0 AND o.n > 0 AND o.batch > 0
                THEN 1.0 * o.batch * ceil(o.m / 128.0) * ceil(o.n / 128.0)
        END AS tiles,
        -- The head size as which kernels of attention compute it at least. FlashAttention has had
        -- kernels for 160 and 224, and no longer has.
        CASE
            WHEN o.family <> 'attention' OR o.k <= 0 THEN NULL
            WHEN o.k <= 256 THEN 32 * ceil(o.k / 32.0)
            ELSE 64 * ceil(o.k / 64.0)
        END AS padded_size,
        CASE
            WHEN o.name IN ('aten::mm', 'aten::bmm') THEN json_get_json(s.input_strides, 0)
            WHEN o.name IN ('aten::addmm', 'aten::baddbmm') THEN json_get_json(s.input_strides, 1)
        END AS a_strides,
        CASE
            WHEN o.name IN ('aten::mm', 'aten::bmm') THEN json_get_json(s.input_strides, 1)
            WHEN o.name IN ('aten::addmm', 'aten::baddbmm') THEN json_get_json(s.input_strides, 2)
        END AS b_strides,
        o.name IN ('aten::bmm', 'aten::baddbmm') AS is_batched,
        CASE
            WHEN o.family = 'conv' AND o.name LIKE '%backward%'
                THEN json_get_json(o.input_shapes, 2)
            WHEN o.family = 'conv' THEN json_get_json(o.input_shapes, 1)
        END AS filter,
        -- Channels of the input, with or without a dimension for the batch.
        CASE
            WHEN o.family <> 'conv' THEN NULL
            WHEN o.name LIKE '%backward%' THEN json_get_int(o.input_shapes, 1, 1)
            ELSE json_get_int(o.input_shapes, 0, 1)
        END AS input_channels,
        -- Rows of a softmax or a normalisation, if each lies in one piece: the last dimension is
        -- the only one of the row.
        CASE
            WHEN o.family = 'softmax' AND o.name LIKE '%softmax%' THEN coalesce(
                TRY_CAST(CASE
                    WHEN o.name LIKE '%backward%' THEN json_get_str(o.arguments, 2)
                    ELSE json_get_str(o.arguments, 1)
                END AS BIGINT) IN (-1, json_length(json_get_json(o.input_shapes, 0)) - 1), false)
            WHEN o.family = 'normalization' AND regexp_like(o.name, 'layer_?norm|rms_?norm')
                THEN coalesce(regexp_like(CASE
                    WHEN o.name LIKE '%backward%' THEN coalesce(
                        nullif(json_get_str(o.arguments, 2), ''), json_get_json(o.input_shapes, 5))
                    ELSE coalesce(
                        nullif(json_get_str(o.arguments, 1), ''), json_get_json(o.input_shapes, 2))
                END, '^\[[0-9]+\]$'), false)
        END AS is_in_rows,
        o.roofline_pct < 60 AS is_low,
        -- Of a few multiples of the time of a launch, launching has a part.
        -- The factor is on the other side, because both columns would be alike for a limit of 0.
        o.is_small AND 5 * o.device_ns < 10 * setting('roofline_small_ns') * o.calls AS is_shortest,
        o.is_small AND o.device_ns < 10 * setting('roofline_small_ns') * o.calls AS is_short,
        -- The fastest kernels use tiles of twice the size.
        1.0 * o.batch * least(
            ceil(o.m / 256.0) * ceil(o.n / 128.0), ceil(o.m / 128.0) * ceil(o.n / 256.0)
        ) AS large_tiles,
        least(o.m, o.n) AS narrow,
        least(o.m, o.n, o.k) AS narrowest
    FROM operator_roofline o
    JOIN device_roofline d
        ON d.trace_id = o.trace_id AND (d.device IS NOT DISTINCT FROM o.device)
    LEFT JOIN _call_sites s ON s.trace_id = o.trace_id AND s.event_id = o.first_event_id
    WHERE o.roofline_ns IS NOT NULL
),
sized AS (
    SELECT
        *,
        CASE faster_type
            WHEN 'tf32' THEN tf32_tflop_s WHEN 'bf16' THEN bf16_tflop_s
            WHEN 'fp16' THEN fp16_tflop_s WHEN 'fp32' THEN fp32_tflop_s
        END AS faster_tflop_s,
        CASE WHEN is_batched THEN json_get_int(a_strides, 1) ELSE json_get_int(a_strides, 0) END
            AS a_rows,
        CASE WHEN is_batched THEN json_get_int(a_strides, 2) ELSE json_get_int(a_strides, 1) END
            AS a_columns,
        CASE WHEN is_batched THEN json_get_int(b_strides, 1) ELSE json_get_int(b_strides, 0) END
            AS b_rows,
        CASE WHEN is_batched THEN json_get_int(b_strides, 2) ELSE json_get_int(b_strides, 1) END
            AS b_columns,
        tiles / nullif(units, 0) AS waves,
        1.0 * batch * m * n / nullif(tiles * 16384, 0) AS filled,
        -- Input channels of a filter. The first dimension of a transposed one are its inputs.
        CASE
            WHEN json_get_int(filter, 1) * batch <> input_channels
                AND json_get_int(filter, 0) = input_channels
                THEN CAST(input_channels / nullif(batch, 0) AS BIGINT)
            ELSE json_get_int(filter, 1)
        END AS filter_channels,
        CASE
            WHEN is_in_rows
                THEN CAST(regexp_match(input_shapes, '^\[\[[0-9, ]*?([0-9]+)\]')[1] AS BIGINT)
        END AS row_length,
        is_low OR bound = 'memory' AND is_product AND narrowest <= 64 AS is_judged
    FROM typed
),
placed AS (
    SELECT
        *,
        -- How far apart the rows of a factor are in memory, or its columns if it is transposed, in
        -- elements; NULL where strides were not recorded.
        CASE WHEN a_columns = 1 THEN a_rows ELSE a_columns END AS a_distance,
        CASE WHEN b_columns = 1 THEN b_rows ELSE b_columns END AS b_distance,
        -- The length as which a softmax over short rows computes each.
        CASE
            WHEN name LIKE '%softmax%' AND row_length BETWEEN 1 AND 1024
                THEN power(2, ceil(log2(row_length)))
        END AS padded_length,
        -- A filter of one input channel belongs to a depthwise convolution, whatever its outputs.
        CASE WHEN family = 'conv' AND batch > 1 THEN n <= 1 OR filter_channels = 1 END
            AS is_depthwise,
        -- The time at the roofline of a faster type; memory would move half of the bytes or less.
        -- Calls above their roofline have used one, though their kernels do not name it.
        CASE
            WHEN roofline_pct > 100 OR is_small THEN NULL
            WHEN unit = 'vector' AND dtype = 'fp64' THEN device_ns / 2.0
            -- Half of the bytes save as much where memory and arithmetic limit about equally.
            WHEN faster_tflop_s > 1.5 * peak_tflop_s
                AND total_flop / peak_tflop_s / 1000 > 0.5 * roofline_ns
                THEN device_ns - greatest(
                    total_flop / faster_tflop_s / 1000, total_bytes / peak_gb_s)
        END AS type_gain_ns
    FROM sized
),
measured AS (
    SELECT
        *,
        -- Whether rows or columns in memory begin at places that are not multiples of 16 bytes, or
        -- of 128 bytes.
        CASE
            WHEN family = 'conv' THEN filter_channels % multiple <> 0 OR n % multiple <> 0
            WHEN is_product AND n > 1 THEN n % multiple <> 0 OR coalesce(
                a_distance % multiple <> 0 OR b_distance % multiple <> 0, k % multiple <> 0)
        END AS is_odd,
        is_product AND (
            n % (8 * multiple) <> 0 OR coalesce(
                a_distance % (8 * multiple) <> 0 OR b_distance % (8 * multiple) <> 0,
                k % (8 * multiple) <> 0)
        ) AS is_uneven,
        CASE
            -- They do not use the units for matrices.
            WHEN is_depthwise THEN NULL
            WHEN type_gain_ns > 0.2 * device_ns AND unit = 'vector' THEN 'fp64 elements'
            WHEN type_gain_ns > 0.2 * device_ns THEN concat(dtype, ' products')
        END AS type_cause
    FROM placed
),
caused AS (
    SELECT
        *, CASE WHEN is_odd THEN multiple ELSE 8 * multiple END AS wanted_multiple,
        concat_ws('; ',
            CASE
                WHEN is_small AND is_low AND (unit = 'vector' OR is_shortest) THEN 'small calls'
            END,
            -- The shape comes first where memory limits.
            CASE WHEN bound = 'compute' OR unit = 'vector' THEN type_cause END,
            CASE
                WHEN NOT is_judged OR is_shortest THEN NULL
                ELSE nullif(concat_ws('; ',
                    CASE
                        WHEN unit = 'matrix' AND split_pct >= 10 THEN 'reduction of split products'
                    END,
                    CASE
                        WHEN family = 'conv' AND layout_pct >= 10 THEN 'layout conversions'
                    END,
                    CASE
                        WHEN (family = 'moe' OR name LIKE '%grouped_mm')
                            AND (narrowest < 64 OR bound = 'memory' AND narrowest = m)
                            THEN 'few tokens per expert'
                        WHEN is_depthwise THEN 'depthwise convolution'
                        WHEN family = 'conv' AND batch > 1 AND n < 128 THEN 'grouped convolution'
                        WHEN padded_size >= 1.1 * k THEN 'padded head size'
                        -- The first factor of a gradient of weights is transposed in memory.
                        WHEN is_product AND NOT coalesce(
                                a_rows = 1 AND a_columns > 1, k >= 64 * greatest(m, n)) AND (
                                m <= 64 AND n >= 8 * m AND k >= 8 * m OR m <= 16 AND n > 64
                                OR name LIKE '%mv'
                            ) THEN 'tiny batch'
                        WHEN is_short OR batch > 1 AND greatest(m, n) <= 64 THEN NULL
                        WHEN is_product AND bound = 'memory' AND (
                                narrowest <= 64
                                OR greatest(m, n) >= 16 * narrowest AND waves >= 1
                            ) THEN 'tall and skinny'
                    END,
                    CASE
                        WHEN family = 'conv' AND dilation > 1 THEN 'dilated convolution'
                        WHEN family = 'attention' AND m = 1 THEN 'one query at a time'
                        WHEN family = 'attention' AND m <= 16 AND n >= 64 * m THEN 'few queries'
                        WHEN family = 'attention' AND narrow <= 512 AND k > 0 THEN 'short sequences'
                        WHEN padded_size > k AND padded_size < 1.1 * k THEN 'padded head size'
                        WHEN is_short THEN NULL
                        WHEN is_odd AND NOT coalesce(is_depthwise, false)
                            AND NOT (family = 'conv' AND batch > 1) AND family <> 'moe'
                            THEN 'sizes not multiples'
                    END), '')
            END,
            CASE WHEN bound = 'memory' AND unit = 'matrix' THEN type_cause END,
            CASE
                WHEN is_low AND NOT is_shortest AND family IN ('gemm', 'conv') AND waves < 1
                    AND m > 64 AND name NOT LIKE '%mv' THEN 'too few tiles'
            END) AS facts
    FROM measured
)
-- Tiles, lengths of rows and rates count where no fact explains the distance.
SELECT
    *,
    -- Whether rows or columns lie further apart than they are long, and only so are odd.
    n % wanted_multiple = 0
        AND NOT (a_distance IN (m, k) AND a_distance % wanted_multiple <> 0)
        AND NOT (b_distance IN (n, k) AND b_distance % wanted_multiple <> 0) AS is_spread,
    CASE
        WHEN facts <> '' THEN split_part(facts, '; ', 1)
        WHEN NOT is_judged THEN NULL
        WHEN family IN ('gemm', 'conv') AND waves < 1 THEN 'too few tiles'
        WHEN family = 'attention' AND batch * ceil(m / 128.0) < units THEN 'too few tiles'
        WHEN is_short THEN 'small calls'
        WHEN is_product AND filled < 0.7 THEN 'partly filled tiles'
        WHEN family IN ('gemm', 'conv') AND waves < 8 AND waves / ceil(waves) < 0.75
            THEN 'last wave of tiles'
        WHEN is_uneven THEN 'sizes not multiples'
        WHEN family IN ('gemm', 'conv') AND large_tiles < units THEN 'too few tiles'
        WHEN row_length % 4 <> 0 OR family = 'fft' AND n > 1 THEN 'sizes not multiples'
        WHEN padded_length >= 1.25 * row_length THEN 'sizes not powers of two'
        WHEN is_small THEN 'small calls'
        WHEN (unit = 'vector' OR family = 'conv') AND bound = 'memory'
            AND (family = 'elementwise' OR name = 'aten::copy_' OR roofline_pct < 40)
            THEN 'far below the bandwidth'
    END AS cause,
    CASE
        WHEN strpos(facts, '; ') > 0 THEN substr(facts, strpos(facts, '; ') + 2)
    END AS further_causes
FROM caused
