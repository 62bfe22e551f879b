-- What is worth optimising: device time that the roofline does not need, by operator and shapes,
-- with the likely cause.
--
-- lost_ns is device_ns less the time at the roofline. Rows without a roofline are not here
-- (roofline_coverage has them). cause is what most likely keeps the calls from their roofline, or
-- puts the roofline low, by their sizes, types and kernels. It is NULL where nothing stands out. It
-- is NULL too where the calls reach 60 % of the roofline, except for products in a slow type and
-- for products that memory limits because a size is 64 or less. Of several causes the first in
-- this order counts: calls so short that launching decides; float32 or double products without
-- TF32 or 16 bits; a reduction of split products, which is measured; few tokens per expert;
-- depthwise, grouped or dilated convolutions; head sizes that kernels pad and short sequences in
-- attention; products with few rows, columns or inner elements; sizes that are not multiples of 16
-- bytes; fewer tiles of 128 x 128 than units, tiles that are partly filled, or a last wave of tiles
-- that leaves units idle; sizes that are not multiples of 128 bytes, which tiles need; elementwise
-- work far below the bandwidth. figure is the quantity behind the cause, and gain_ns the time that
-- would be saved without it: the lost time, or for types the time above the roofline of the faster
-- type.
--
-- Source: operator_roofline; the tile sizes of cuBLAS, docs/roofline.md.
-- Example: SELECT name, input_shapes, device_ns, lost_ns, roofline_pct, cause
--   FROM lost_time ORDER BY lost_ns DESC LIMIT 10
-- Holds: abs(lost_ns + roofline_ns - device_ns) < 1
-- Holds: (cause IS NULL) = (advice IS NULL)
-- Range: sum device_ns
-- Range: any roofline_pct, lost_ns; calls can be above it (operator_roofline.over).
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column device BIGINT id Device; NULL where none was written.
-- @column name VARCHAR text Name of the operator.
-- @column input_shapes VARCHAR json Shapes of the inputs.
-- @column input_types VARCHAR json Types of the inputs.
-- @column family VARCHAR text Family of the operator, as in operator_roofline.
-- @column dtype VARCHAR text Precision of the peak.
-- @column call_site VARCHAR text Where the first of the calls was made: the innermost frame of
--   Python or module outside of PyTorch; NULL if not recorded, as in the backward pass.
-- @column calls BIGINT count Number of calls.
-- @column device_ns BIGINT ns Their device time.
-- @column device_pct DOUBLE pct device_ns as percent of the work of the device.
-- @column roofline_ns DOUBLE ns Time at the roofline.
-- @column roofline_pct DOUBLE pct roofline_ns as percent of device_ns.
-- @column lost_ns DOUBLE ns device_ns less roofline_ns; negative above the roofline.
-- @column tflop_s DOUBLE TFLOP/s Operations by device_ns; NULL if only bytes are known.
-- @column gb_s DOUBLE GB/s Bytes by device_ns.
-- @column flop_per_byte DOUBLE number Operations by bytes; NULL if only bytes are known.
-- @column peak_tflop_s DOUBLE TFLOP/s Peak of the device for dtype.
-- @column peak_gb_s DOUBLE GB/s Bandwidth of the device.
-- @column quality VARCHAR text How sure the figures are, as in operator_roofline.
-- @column bound VARCHAR text compute or memory: what limits the roofline.
-- @column is_small BOOLEAN flag Whether one call is so short that launching decides.
-- @column cause VARCHAR text The likely cause in a word or two; NULL if nothing stands out.
-- @column figure VARCHAR text The quantity behind the cause; NULL without a cause.
-- @column gain_ns DOUBLE ns Time that would be saved; NULL without a cause.
-- @column advice VARCHAR text What to try first; NULL without a cause.
WITH typed AS (
    SELECT
        o.*, d.units, d.tf32_tflop_s, d.bf16_tflop_s, d.fp16_tflop_s,
        coalesce(d.fp32_matrix_tflop_s, d.fp32_vector_tflop_s) AS fp32_tflop_s,
        -- The nearest type in which the device computes products much faster.
        CASE
            WHEN o.unit <> 'matrix' OR o.dtype NOT IN ('fp64', 'fp32') THEN NULL
            WHEN d.tf32_tflop_s > 1.5 * o.peak_tflop_s THEN 'tf32'
            WHEN o.dtype = 'fp64' THEN 'fp32'
            WHEN d.bf16_tflop_s > 1.5 * o.peak_tflop_s THEN 'bf16'
            ELSE 'fp16'
        END AS faster_type
    FROM operator_roofline o
    JOIN device_roofline d
        ON d.trace_id = o.trace_id AND (d.device IS NOT DISTINCT FROM o.device)
    WHERE o.roofline_ns IS NOT NULL
),
sized AS (
    SELECT
        *,
        -- Elements in 16 bytes, which units for matrices read at once.
        CASE dtype
            WHEN 'fp16' THEN 8 WHEN 'bf16' THEN 8 WHEN 'fp8' THEN 16 WHEN 'int8' THEN 16
            WHEN 'tf32' THEN 4 WHEN 'fp4' THEN 32
        END AS multiple,
        unit = 'matrix' AND family IN ('gemm', 'moe') AND m > 0 AND n > 0 AS is_product,
        CASE
            WHEN unit = 'matrix' AND m > 0 AND n > 0 AND batch > 0
                THEN 1.0 * batch * ceil(m / 128.0) * ceil(n / 128.0)
        END AS tiles,
        CASE faster_type
            WHEN 'tf32' THEN tf32_tflop_s WHEN 'bf16' THEN bf16_tflop_s
            WHEN 'fp16' THEN fp16_tflop_s WHEN 'fp32' THEN fp32_tflop_s
        END AS faster_tflop_s,
        -- The head size as which kernels of attention compute it.
        CASE
            WHEN family <> 'attention' THEN NULL
            WHEN k <= 32 THEN 32 WHEN k <= 64 THEN 64 WHEN k <= 96 THEN 96 WHEN k <= 128 THEN 128
            WHEN k <= 192 THEN 192
            ELSE 64 * ceil(k / 64.0)
        END AS padded_size
    FROM typed
),
measured AS (
    SELECT
        *,
        roofline_pct < 60 AS is_low,
        -- The time at the roofline of a faster type; memory would move half of the bytes or less.
        -- Calls above their roofline have used one, though their kernels do not name it.
        CASE
            WHEN faster_tflop_s > 1.5 * peak_tflop_s AND bound = 'compute' AND roofline_pct <= 100
                THEN device_ns - greatest(
                    total_flop / faster_tflop_s / 1000, total_bytes / peak_gb_s)
        END AS type_gain_ns,
        tiles / nullif(units, 0) AS waves,
        1.0 * batch * m * n / nullif(tiles * 16384, 0) AS filled,
        least(m, n) AS narrow,
        least(m, n, k) AS narrowest,
        -- A filter of one input channel belongs to a depthwise convolution, whatever its outputs.
        CASE
            WHEN family = 'conv' AND batch > 1 AND name LIKE '%backward%'
                THEN n <= 1 OR json_get_int(input_shapes, 2, 1) = 1
            WHEN family = 'conv' AND batch > 1
                THEN n <= 1 OR json_get_int(input_shapes, 1, 1) = 1
        END AS is_depthwise,
        -- The length of the rows that a softmax or a normalisation works on.
        CASE
            WHEN family IN ('softmax', 'normalization')
                AND regexp_like(name, 'softmax|layer_?norm|rms_?norm')
                THEN CAST(regexp_match(input_shapes, '^\[\[[0-9, ]*?([0-9]+)\]')[1] AS BIGINT)
        END AS row_length
    FROM sized
),
caused AS (
    SELECT
        *,
        CASE
            -- What takes much longer has another cause, but of a vector unit no other is known.
            -- Kernels of attention with short sequences are hardly longer than their launches.
            WHEN is_small AND is_low AND (
                    unit = 'vector'
                    OR device_ns < CASE WHEN family = 'attention' THEN 5 ELSE 10 END
                        * setting('roofline_small_ns') * calls
                )
                THEN 'small calls'
            WHEN type_gain_ns > 0.2 * device_ns THEN concat(dtype, ' products')
            WHEN NOT is_low AND NOT (bound = 'memory' AND is_product AND narrowest <= 64) THEN NULL
            WHEN unit = 'matrix' AND split_pct >= 10 THEN 'reduction of split products'
            WHEN (family = 'moe' OR name LIKE '%grouped_mm') AND narrowest < 64
                THEN 'few tokens per expert'
            WHEN is_depthwise THEN 'depthwise convolution'
            WHEN family = 'conv' AND batch > 1 AND n < 32 THEN 'grouped convolution'
            WHEN family = 'conv' AND dilation > 1 THEN 'dilated convolution'
            WHEN padded_size >= 1.1 * k THEN 'padded head size'
            WHEN family = 'attention' AND m = 1 THEN 'one query at a time'
            WHEN family = 'attention' AND narrow <= 512 THEN 'short sequences'
            WHEN padded_size > k THEN 'padded head size'
            WHEN is_product AND (m <= 16 AND n > 16 OR name LIKE '%mv') THEN 'tiny batch'
            WHEN is_product AND narrow <= 64 THEN 'tall and skinny'
            WHEN is_product AND bound = 'memory'
                AND (k <= 64 OR greatest(m, n) >= 16 * narrowest AND waves >= 1)
                THEN 'tall and skinny'
            WHEN is_product AND (n % multiple <> 0 OR k % multiple <> 0)
                THEN 'sizes not multiples'
            WHEN family = 'conv' AND (k % multiple <> 0 OR n % multiple <> 0)
                THEN 'sizes not multiples'
            WHEN family IN ('gemm', 'conv') AND waves < 1 THEN 'too few tiles'
            WHEN is_product AND filled < 0.7 THEN 'partly filled tiles'
            WHEN family IN ('gemm', 'conv') AND waves < 8 AND waves / ceil(waves) < 0.75
                THEN 'last wave of tiles'
            WHEN family = 'attention' AND batch * ceil(m / 128.0) < units THEN 'too few tiles'
            WHEN is_product AND (n % (8 * multiple) <> 0 OR k % (8 * multiple) <> 0)
                THEN 'sizes not multiples'
            WHEN row_length % 4 <> 0 THEN 'sizes not multiples'
            WHEN unit = 'vector' AND bound = 'memory'
                AND (family = 'elementwise' OR roofline_pct < 40) THEN 'far below the bandwidth'
        END AS cause
    FROM measured
)
SELECT
    c.trace_id, rank, device, name, input_shapes, input_types, family, dtype, call_site, calls,
    device_ns, device_pct, roofline_ns, roofline_pct, lost_ns, tflop_s, gb_s, flop_per_byte,
    peak_tflop_s, peak_gb_s, quality, bound, is_small, cause,
    CASE
        WHEN cause IS NULL THEN NULL
        WHEN cause = 'small calls' THEN concat(
            format_ns(CAST(roofline_ns / calls AS BIGINT)), ' of work in ',
            format_ns(CAST(device_ns / calls AS BIGINT)), ' a call')
        WHEN cause LIKE 'fp__ products' THEN concat(
            round(peak_tflop_s, 1), ' instead of ', round(faster_tflop_s, 1), ' TFLOP/s with ',
            faster_type)
        WHEN cause = 'few tokens per expert' THEN concat(
            'about ', narrowest, ' for each of ', batch)
        WHEN cause IN ('depthwise convolution', 'grouped convolution') THEN concat(
            batch, ' groups with ', n, ' output channels each')
        WHEN cause = 'dilated convolution' THEN concat('dilation ', dilation)
        WHEN cause = 'padded head size' THEN concat(
            'head size ', k, ' is computed as ', CAST(padded_size AS BIGINT))
        WHEN cause IN ('short sequences', 'one query at a time') THEN concat(
            'queries ', m, ', keys ', n)
        WHEN cause = 'reduction of split products' THEN concat(
            round(split_pct, 1), ' % of the time in the reduction')
        WHEN cause = 'partly filled tiles' THEN concat(
            round(100 * filled, 1), ' % of the tiles of 128 x 128 is used: m = ', m, ', n = ', n)
        WHEN cause IN ('too few tiles', 'last wave of tiles') AND family <> 'attention' THEN concat(
            CAST(tiles AS BIGINT), ' tiles of 128 x 128 for ', units, ' units')
        WHEN cause = 'too few tiles' THEN concat(
            CAST(batch * ceil(m / 128.0) AS BIGINT), ' blocks of queries for ', units, ' units')
        WHEN cause = 'far below the bandwidth' THEN concat(
            round(gb_s, 0), ' of ', round(peak_gb_s, 0), ' GB/s')
        WHEN unit = 'vector' THEN concat('rows of ', row_length, ' elements')
        WHEN cause = 'sizes not multiples' THEN concat(
            'm = ', m, ', n = ', n, ', k = ', k, ', not multiples of ',
            CASE WHEN n % multiple <> 0 OR k % multiple <> 0 THEN multiple ELSE 8 * multiple END)
        ELSE concat('m = ', m, ', n = ', n, ', k = ', k)
    END AS figure,
    CASE
        WHEN cause LIKE 'fp__ products' THEN type_gain_ns
        WHEN cause IS NOT NULL THEN greatest(lost_ns, 0)
    END AS gain_ns,
    CASE
        WHEN cause IS NULL THEN NULL
        WHEN cause = 'small calls' THEN 'Batch or fuse the calls, or replay them with CUDA graphs.'
        WHEN cause = 'fp64 products' THEN 'Compute in float32 where its precision is enough.'
        WHEN cause = 'fp32 products' AND faster_type = 'tf32' THEN
            'Use torch.autocast with bfloat16, or TF32: '
            || 'torch.set_float32_matmul_precision("high").'
        WHEN cause = 'fp32 products' AND faster_type = 'bf16' THEN
            'Use torch.autocast with bfloat16.'
        WHEN cause = 'fp32 products' THEN
            'Use torch.autocast with float16, and torch.amp.GradScaler in training.'
        WHEN cause = 'few tokens per expert' THEN
            'Batch more tokens, use fewer experts on a device, or a grouped kernel.'
        WHEN cause IN ('depthwise convolution', 'grouped convolution') THEN
            'Use channels_last memory format, or larger groups; fuse it with its neighbours.'
        WHEN cause = 'dilated convolution' THEN
            'Compare with a strided or larger dense convolution; few kernels know dilation.'
        WHEN cause = 'padded head size' THEN 'Choose a head size of 64 or 128.'
        WHEN cause = 'short sequences' THEN
            'Pack sequences (variable length attention), or batch more of them.'
        WHEN cause = 'one query at a time' THEN
            'Use a decoding kernel that splits keys (flash decoding), and larger batches.'
        WHEN cause = 'tiny batch' THEN
            'Batch more rows, or join products that share an input: the weights are read for few '
            || 'rows.'
        WHEN cause = 'tall and skinny' THEN
            'Join products that share an input, or fuse what comes next: memory limits products '
            || 'of this shape.'
        WHEN cause = 'sizes not multiples' THEN
            'Pad the sizes, for example vocabularies, to multiples of 128 bytes, or of 16 bytes '
            || 'at least.'
        WHEN cause = 'reduction of split products' THEN
            'Larger batches need no split of the inner size; try another library or torch.compile '
            || 'with max-autotune.'
        WHEN cause IN ('too few tiles', 'partly filled tiles', 'last wave of tiles') THEN
            'Choose sizes that fill the device, batch products, or let max-autotune choose tiles.'
        ELSE 'Check that the inputs are contiguous and fuse it with its neighbours '
            || '(torch.compile).'
    END AS advice
FROM caused c
LEFT JOIN _call_sites s ON s.trace_id = c.trace_id AND s.event_id = c.first_event_id
