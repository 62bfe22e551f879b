-- Device work by the operator that owns it: how much it computes and moves, how fast, and how far
-- that is from what the device could do.
--
-- Every nanosecond of kernels, copies and fills is in exactly one row, so device_ns adds up to the
-- sum of their durations. Work belongs to the outermost operator around its launch that has figures
-- (operator_formulas), so that aten::layer_norm stands for all that it calls. Wrappers such as
-- aten::linear own nothing, and a call with a call of the same name inside is passed over.
-- Communication and work outside of operators have rows of their own by kernel: (communication),
-- (graph), (host), (unlinked). device_ns of a call is the length of the union of its activities;
-- what they overlap is in the row (overlap) of the device.
--
-- roofline_ns is the time that the calls would take at the peak of arithmetic for their type or at
-- the peak bandwidth of memory, whichever is longer; each byte is moved once, whatever caches do.
-- flop is NULL where only bytes are known, and only they count then. Figures of a row are those of
-- one call, sums have total in their names.
--
-- Source: `tracesql docs roofline` (docs/roofline.md).
-- Example: SELECT name, input_shapes, calls, device_ns, tflop_s, roofline_pct, bound
--   FROM operator_roofline ORDER BY device_ns DESC LIMIT 5
-- Parts: device_ns BY trace_id, device OF gpu_time_by_class.total_ns
-- Holds: flop <= flop_full AND flop <= coalesce(flop_upper, flop)
-- Holds: (flop IS NULL AND read_bytes IS NULL) = (coverage NOT IN ('modelled', 'bytes only'))
-- Holds: roofline_pct IS NOT NULL OR reason IS NOT NULL
-- Range: sum device_ns
-- Range: any roofline_pct, roofline_upper_pct, lost_ns; the column over states why.
-- Holds: coalesce(roofline_pct, 0) <= 105 OR over IS NOT NULL
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column device BIGINT id Device; NULL where none was written.
-- @column name VARCHAR text Name of the operator, or the kind of work in brackets.
-- @column kernel VARCHAR text Name of the kernel of work outside of operators; NULL for operators.
-- @column input_shapes VARCHAR json Shapes of the inputs; NULL outside of operators.
-- @column input_types VARCHAR json Types of the inputs; NULL if not recorded.
-- @column arguments VARCHAR json Values of arguments; NULL if not recorded.
-- @column family VARCHAR text Family of the operator: gemm, conv, attention, normalization, …;
--   elementwise for others with figures; NULL without.
-- @column coverage VARCHAR text modelled, bytes only, no formula, no shapes, lengths not recorded,
--   not measurable, graph, host, unlinked, communication, copies or overlap.
-- @column calls BIGINT count Number of calls that own device work.
-- @column first_event_id BIGINT id The first of the calls (events.event_id); NULL outside of
--   operators.
-- @column device_ns BIGINT ns Their device time.
-- @column device_pct DOUBLE pct device_ns as percent of the work of the device.
-- @column unit VARCHAR text matrix or vector: the units that it runs on; NULL without figures.
-- @column dtype VARCHAR text Precision of the peak: fp64, fp32, tf32, fp16, bf16, fp8, fp4, int8.
-- @column flop BIGINT flop Operations of one call, the visible part of attention; NULL if not
--   known.
-- @column flop_full BIGINT flop The same with all of attention, and without sparsity.
-- @column flop_upper BIGINT flop Upper bound of flop; NULL if it is not a bound.
-- @column read_bytes BIGINT bytes Bytes that one call reads; NULL if not known.
-- @column written_bytes BIGINT bytes Bytes that one call writes; NULL if not known.
-- @column bytes_upper BIGINT number Upper bound of bytes read and written; NULL if it is not a
--   bound.
-- @column batch BIGINT count Batch of a product; for attention batch times heads, for convolutions
--   groups, for mixtures experts; NULL for others.
-- @column m BIGINT count Rows; for attention the length of the query, for convolutions positions.
-- @column n BIGINT count Columns; for attention the length of the key.
-- @column k BIGINT count Inner size; for attention the head size.
-- @column dilation BIGINT count Dilation of a convolution; NULL for others.
-- @column total_flop DOUBLE number Operations of all calls; NULL if not known.
-- @column total_bytes DOUBLE bytes Bytes of all calls; NULL if not known.
-- @column flop_per_byte DOUBLE number flop by bytes; NULL if not known.
-- @column tflop_s DOUBLE TFLOP/s total_flop by device_ns; NULL if not known.
-- @column gb_s DOUBLE GB/s total_bytes by device_ns; NULL if not known.
-- @column peak_tflop_s DOUBLE TFLOP/s Peak of the device for dtype and unit; NULL if not known.
-- @column peak_gb_s DOUBLE GB/s Bandwidth of the device; NULL if not known.
-- @column roofline_ns DOUBLE ns Time of all calls at the roofline; NULL if not known.
-- @column roofline_pct DOUBLE pct roofline_ns as percent of device_ns; NULL if not known.
-- @column roofline_upper_pct DOUBLE pct The same with the upper bounds; NULL if only a lower bound
--   is known.
-- @column bound VARCHAR text compute or memory: what limits it; NULL if not known.
-- @column lost_ns DOUBLE ns device_ns less roofline_ns; NULL if not known.
-- @column is_small BOOLEAN flag Whether one call takes less than roofline_small_ns at the roofline,
--   so that launching decides.
-- @column over VARCHAR text Why roofline_pct is above 100, as far as it is known; NULL if it is
--   not above.
-- @column split_pct DOUBLE pct Time in kernels that add up the parts of split products as percent
--   of device_ns.
-- @column layout_pct DOUBLE pct Time in kernels that convert tensors between the layouts of images
--   (NCHW and NHWC) as percent of device_ns.
-- @column quality VARCHAR text exact, lower_bound, bounds (figures are the lower ones), recorded or
--   estimate; NULL without figures.
-- @column reason VARCHAR text Why there are no figures or no roofline; NULL if there are.
WITH by_kind AS (
    -- Calls that are not divided have one row, which is faster to count than different calls.
    SELECT
        trace_id, device, place, kernel_name, kind_id, has_tf32, has_transfer, is_divided,
        count(*) FILTER (WHERE owner_id IS NOT NULL AND NOT is_divided)
            + count(DISTINCT CASE WHEN is_divided THEN owner_id END) AS owners,
        min(owner_id) AS first_event_id,
        sum(activities) AS activities,
        sum(device_ns) AS device_ns,
        sum(activity_ns) AS activity_ns,
        sum(kernel_ns) AS kernel_ns,
        sum(split_ns) AS split_ns,
        sum(layout_ns) AS layout_ns,
        sum(winograd_ns) AS winograd_ns
    FROM _owner_calls
    GROUP BY trace_id, device, place, kernel_name, kind_id, has_tf32, has_transfer, is_divided
),
rows AS (
    SELECT
        k.*, g.kernel_name, g.owners, g.first_event_id, g.activities,
        g.device_ns, g.activity_ns, g.kernel_ns, g.split_ns, g.layout_ns, g.winograd_ns
    FROM by_kind g
    JOIN _roofline_kinds k
        ON k.trace_id = g.trace_id AND k.place = g.place AND k.kind_id = g.kind_id
            AND k.has_tf32 = g.has_tf32 AND k.has_transfer = g.has_transfer
            AND k.is_divided = g.is_divided
            AND coalesce(k.device, -1) = coalesce(g.device, -1)
),
grouped AS (
    SELECT
        trace_id, rank, device, place, name, kernel_name, input_shapes, input_types, arguments,
        form, unit, compute_type, flop, flop_full, flop_upper, read_bytes, written_bytes, bytes,
        bytes_upper, batch, m, n, k, dilation, quality, peak_tflop_s, peak_gb_s, l2_bytes,
        compute_over,
        compute_ns, memory_ns, roofline_ns AS call_ns, roofline_upper_ns AS call_upper_ns,
        figure_reason, reason,
        sum(owners) AS owners,
        min(first_event_id) AS first_event_id,
        sum(activities) AS activities,
        sum(device_ns) AS device_ns,
        sum(kernel_ns) AS kernel_ns,
        sum(split_ns) AS split_ns,
        sum(layout_ns) AS layout_ns,
        sum(winograd_ns) AS winograd_ns
    FROM rows
    GROUP BY
        trace_id, rank, device, place, name, kernel_name, input_shapes, input_types, arguments,
        form, unit, compute_type, flop, flop_full, flop_upper, read_bytes, written_bytes, bytes,
        bytes_upper, batch, m, n, k, dilation, quality, peak_tflop_s, peak_gb_s, l2_bytes,
        compute_over,
        compute_ns, memory_ns, roofline_ns, roofline_upper_ns, figure_reason, reason
    UNION ALL
    SELECT
        trace_id, rank, device, 'overlap', NULL, NULL, NULL, NULL, NULL,
        NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
        NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
        NULL, NULL, NULL, NULL,
        'activities of one call ran at the same time',
        'activities of one call ran at the same time',
        0, NULL, 0, sum(activity_ns - device_ns), 0, 0, 0, 0
    FROM rows
    GROUP BY trace_id, rank, device
    HAVING sum(activity_ns - device_ns) > 0
),
counted AS (
    SELECT
        *,
        CASE WHEN place = 'operator' THEN owners ELSE activities END AS calls,
        sum(device_ns) OVER (PARTITION BY trace_id, device) AS all_ns,
        CASE WHEN place = 'operator' THEN classify('operator_class', name) END AS operator_class
    FROM grouped
),
totals AS (
    SELECT
        *,
        CAST(calls AS DOUBLE) * flop AS total_flop,
        CAST(calls AS DOUBLE) * bytes AS total_bytes,
        calls * call_ns AS roofline_ns,
        100.0 * calls * call_ns / device_ns AS roofline_pct
    FROM counted
)
SELECT
    trace_id, rank, device,
    CASE WHEN place = 'operator' THEN name ELSE concat('(', place, ')') END AS name,
    CASE WHEN place <> 'operator' THEN kernel_name END AS kernel,
    input_shapes, input_types, arguments,
    CASE
        WHEN figure_reason IS NOT NULL THEN NULL
        WHEN form IN ('matmul', 'linear', 'packed_weight', 'sparse', 'grouped') THEN 'gemm'
        WHEN form IN ('convolution', 'convolution_backward') THEN 'conv'
        WHEN form IN ('attention', 'attention_backward', 'cached_attention') THEN 'attention'
        WHEN form = 'experts' THEN 'moe'
        WHEN form = 'pointers' AND m IS NOT NULL THEN 'gemm'
        WHEN form = 'pointers' THEN 'fused'
        WHEN form = 'transform' THEN 'fft'
        ELSE coalesce(operator_class, 'elementwise')
    END AS family,
    CASE
        WHEN place <> 'operator' THEN place
        WHEN figure_reason IS NULL AND flop IS NULL THEN 'bytes only'
        WHEN figure_reason IS NULL THEN 'modelled'
        WHEN kernel_ns = 0 THEN 'copies'
        WHEN form IS NULL THEN 'no formula'
        WHEN figure_reason = 'lengths of sequences not recorded' THEN 'lengths not recorded'
        WHEN figure_reason LIKE '%not recorded%' THEN 'no shapes'
        ELSE 'not measurable'
    END AS coverage,
    calls, first_event_id, device_ns,
    100.0 * device_ns / nullif(all_ns, 0) AS device_pct,
    CASE WHEN figure_reason IS NULL THEN unit END AS unit,
    compute_type AS dtype,
    flop, flop_full, flop_upper, read_bytes, written_bytes, bytes_upper, batch, m, n, k, dilation,
    total_flop, total_bytes,
    CAST(flop AS DOUBLE) / nullif(bytes, 0) AS flop_per_byte,
    total_flop / device_ns / 1000 AS tflop_s,
    total_bytes / device_ns AS gb_s,
    CASE WHEN figure_reason IS NULL THEN peak_tflop_s END AS peak_tflop_s,
    CASE WHEN figure_reason IS NULL THEN peak_gb_s END AS peak_gb_s,
    roofline_ns, roofline_pct,
    CASE
        WHEN quality <> 'lower_bound' THEN 100.0 * calls * call_upper_ns / device_ns
    END AS roofline_upper_pct,
    CASE
        WHEN call_ns IS NULL THEN NULL
        WHEN compute_ns >= memory_ns AND flop > 0 THEN 'compute'
        ELSE 'memory'
    END AS bound,
    device_ns - roofline_ns AS lost_ns,
    call_ns < setting('roofline_small_ns') AS is_small,
    CASE
        WHEN roofline_pct <= 100 OR roofline_pct IS NULL THEN NULL
        WHEN compute_ns >= memory_ns AND winograd_ns > 0
            THEN 'Winograd kernels need fewer operations than the formula counts'
        WHEN compute_ns >= memory_ns THEN compute_over
        WHEN bytes < l2_bytes THEN 'the data fit the last cache of the device'
        WHEN form = 'pointers' THEN 'a fused kernel may read a part of its inputs'
        WHEN quality = 'estimate' THEN 'the bytes are an estimate'
        ELSE 'an input may be given twice, or be used in part'
    END AS over,
    100.0 * split_ns / device_ns AS split_pct,
    100.0 * layout_ns / device_ns AS layout_pct,
    quality, reason
FROM totals
