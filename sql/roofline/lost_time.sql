-- What is worth optimising: device time that the roofline does not need, by operator and shapes,
-- with the likely cause.
--
-- lost_ns is device_ns less the time at the roofline. Rows without a roofline are not here
-- (roofline_coverage has them). cause is what most likely keeps the calls from their roofline, or
-- puts the roofline low, by their sizes, types and kernels. It is NULL where nothing stands out,
-- and where the calls reach 60 % of the roofline, except for work in a slow type and for products
-- that memory limits because a size is 64 or less. docs/roofline.md describes each cause. Where
-- several apply, cause is the first in its order, and further_causes lists the others. figure is
-- the quantity behind the cause, and gain_ns the time that would be saved without it: the lost
-- time, or for types the time above the roofline of the faster type.
--
-- Source: operator_roofline; the tile sizes of cuBLAS, docs/roofline.md.
-- Example: SELECT name, input_shapes, device_ns, lost_ns, roofline_pct, cause
--   FROM lost_time ORDER BY lost_ns DESC LIMIT 10
-- Holds: abs(lost_ns + roofline_ns - device_ns) < 1
-- Holds: (cause IS NULL) = (advice IS NULL)
-- Holds: cause IS NOT NULL OR further_causes IS NULL
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
-- @column further_causes VARCHAR text Other causes that apply, separated by semicolons; NULL if
--   there are none.
-- @column figure VARCHAR text The quantity behind the cause; NULL without a cause.
-- @column gain_ns DOUBLE ns Time that would be saved; NULL without a cause.
-- @column advice VARCHAR text What to try first; NULL without a cause.
SELECT
    c.trace_id, rank, device, name, input_shapes, input_types, family, dtype, call_site, calls,
    device_ns, device_pct, roofline_ns, roofline_pct, lost_ns, tflop_s, gb_s, flop_per_byte,
    peak_tflop_s, peak_gb_s, quality, bound, is_small, cause, further_causes,
    CASE
        WHEN cause IS NULL THEN NULL
        WHEN cause = 'small calls' THEN concat(
            format_ns(CAST(roofline_ns / calls AS BIGINT)), ' of work in ',
            format_ns(CAST(device_ns / calls AS BIGINT)), ' a call')
        WHEN cause = 'fp64 elements' THEN 'doubles have twice the bytes of float32'
        WHEN cause LIKE '____ products' THEN concat(
            round(peak_tflop_s, 1), ' instead of ', round(faster_tflop_s, 1), ' TFLOP/s with ',
            faster_type)
        WHEN cause = 'few tokens per expert' THEN concat(
            'about ', narrowest, ' for each of ', batch)
        WHEN cause IN ('depthwise convolution', 'grouped convolution') THEN concat(
            batch, ' groups with ', n, ' output channels each')
        WHEN cause = 'dilated convolution' THEN concat('dilation ', dilation)
        WHEN cause = 'padded head size' AND pads_to_known AND padded_size IN (160, 224) THEN concat(
            'head size ', k, ' is computed as ', CAST(padded_size AS BIGINT), ' or ',
            CAST(padded_size AS BIGINT) + 32)
        WHEN cause = 'padded head size' AND pads_to_known THEN concat(
            'head size ', k, ' is computed as ', CAST(padded_size AS BIGINT))
        WHEN cause = 'padded head size' THEN concat(
            'head size ', k, ' is none of those for which kernels are made')
        WHEN cause IN ('short sequences', 'one query at a time', 'few queries') THEN concat(
            'queries ', m, ', keys ', n)
        WHEN cause = 'reduction of split products' THEN concat(
            round(split_pct, 1), ' % of the time in the reduction')
        WHEN cause = 'partly filled tiles' THEN concat(
            round(100 * filled, 1), ' % of the tiles of 128 x 128 is used: m = ', m, ', n = ', n)
        WHEN cause = 'layout conversions' THEN concat(
            round(layout_pct, 1), ' % of the time in conversions between NCHW and NHWC')
        WHEN cause = 'too few tiles' AND family <> 'attention' AND waves >= 1 THEN concat(
            CAST(large_tiles AS BIGINT), ' tiles of 256 x 128 for ', units, ' units')
        WHEN cause IN ('too few tiles', 'last wave of tiles') AND family <> 'attention' THEN concat(
            CAST(tiles AS BIGINT), ' tiles of 128 x 128 for ', units, ' units')
        WHEN cause = 'too few tiles' THEN concat(
            CAST(batch * ceil(m / 128.0) AS BIGINT), ' blocks of queries for ', units, ' units')
        WHEN cause = 'far below the bandwidth' THEN concat(
            round(gb_s, 0), ' of ', round(peak_gb_s, 0), ' GB/s')
        WHEN cause = 'sizes not powers of two' THEN concat(
            'rows of ', row_length, ' elements are computed as ', CAST(padded_length AS BIGINT))
        WHEN family = 'fft' THEN concat('length ', k, ' is no product of 2, 3, 5 and 7')
        WHEN unit = 'vector' THEN concat('rows of ', row_length, ' elements')
        WHEN cause = 'sizes not multiples' AND family = 'conv' THEN concat(
            filter_channels, ' input and ', n, ' output channels, not multiples of ', multiple)
        WHEN cause = 'sizes not multiples' AND is_spread THEN concat(
            'rows or columns in memory ', a_distance, ' and ', b_distance,
            ' elements apart, not multiples of ', wanted_multiple)
        WHEN cause = 'sizes not multiples' THEN concat(
            'm = ', m, ', n = ', n, ', k = ', k, ', not multiples of ', wanted_multiple)
        ELSE concat(
            'm = ', m, ', n = ', n, ', k = ', k,
            CASE WHEN batch > 1 THEN concat(', in each of ', batch, ' matrices') ELSE '' END)
    END AS figure,
    CASE
        WHEN cause LIKE '____ products' OR cause = 'fp64 elements' THEN type_gain_ns
        WHEN cause IS NOT NULL THEN greatest(lost_ns, 0)
    END AS gain_ns,
    CASE
        WHEN cause IS NULL THEN NULL
        WHEN cause = 'small calls' THEN 'Batch or fuse the calls, or replay them with CUDA graphs.'
        WHEN cause = 'fp64 products' AND faster_type = 'tf32' THEN
            'Compute in float32 with TF32, or in bfloat16, where their precision is enough.'
        WHEN cause IN ('fp64 products', 'fp64 elements')
            THEN 'Compute in float32 where its precision is enough.'
        WHEN cause = 'fp32 products' AND faster_type = 'tf32' AND family = 'conv' THEN
            'Use torch.autocast with bfloat16, or TF32: torch.backends.cudnn.allow_tf32 = True.'
        WHEN cause = 'fp32 products' AND faster_type = 'tf32' AND family = 'gemm' THEN
            'Use torch.autocast with bfloat16, or TF32: '
            || 'torch.set_float32_matmul_precision("high").'
        WHEN cause = 'fp32 products' AND faster_type IN ('tf32', 'bf16') THEN
            'Use torch.autocast with bfloat16.'
        WHEN cause = 'bf16 products' THEN
            'Use float16: this device has no units for bfloat16.'
        WHEN cause = 'fp32 products' THEN
            'Use torch.autocast with float16, and torch.amp.GradScaler in training.'
        WHEN cause = 'few tokens per expert' THEN
            'Batch more tokens, use fewer experts on a device, or a grouped kernel.'
        WHEN cause = 'layout conversions' THEN
            'Use the channels_last memory format for the model and its inputs.'
        WHEN cause IN ('depthwise convolution', 'grouped convolution') THEN
            'Use channels_last memory format, or larger groups; fuse it with its neighbours.'
        WHEN cause = 'dilated convolution' THEN
            'Compare with a strided or larger dense convolution; few kernels know dilation.'
        WHEN cause = 'padded head size' THEN 'Choose a head size of 64 or 128.'
        WHEN cause = 'short sequences' THEN
            'Pack sequences (variable length attention), or batch more of them.'
        WHEN cause IN ('one query at a time', 'few queries') THEN
            'Use a decoding kernel that splits keys (flash decoding), and larger batches.'
        WHEN cause = 'tiny batch' THEN
            'Batch more rows, or join products that share an input: the weights are read for few '
            || 'rows.'
        WHEN cause = 'tall and skinny' THEN
            'Join products that share an input, or fuse what comes next: memory limits products '
            || 'of this shape.'
        WHEN cause = 'sizes not multiples' AND family = 'fft' THEN
            'Pad the length to a product of 2, 3, 5 and 7.'
        WHEN cause = 'sizes not powers of two' THEN
            'Choose a power of two that is at least as long, or a kernel for other lengths.'
        WHEN cause = 'sizes not multiples' THEN
            'Pad the sizes, for example vocabularies, to multiples of 128 bytes, or of 16 bytes '
            || 'at least.'
        WHEN cause = 'reduction of split products' THEN
            'Larger batches need no split of the inner size; try another library or torch.compile '
            || 'with max-autotune.'
        WHEN cause IN ('too few tiles', 'partly filled tiles', 'last wave of tiles') THEN
            'Choose sizes that fill the device, batch products, or let max-autotune choose tiles.'
        WHEN family = 'conv' THEN
            'Use channels_last memory format, and fuse it with its neighbours (torch.compile).'
        ELSE 'Check that the inputs are contiguous and fuse it with its neighbours '
            || '(torch.compile).'
    END AS advice
FROM _lost_causes c
