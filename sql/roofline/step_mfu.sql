-- Model FLOPs utilisation (MFU) of each step and device: operations of products by what the device
-- could have done in that time.
--
-- hfu_pct is the time that products, convolutions and attention would take at the peak of their
-- type, as percent of the step. mfu_pct leaves out what activation checkpointing computes again,
-- and divides by the peak of the type with most operations (setting mfu_dtype), as papers do; it is
-- NULL where frames of Python, which show recomputation, were not recorded. mfu_full_attention_pct
-- counts all of causal attention. busy_mfu_pct is the same by the time in which the device worked.
-- mbu_pct is bytes by bandwidth. A step begins and ends as in step_time; a trace without steps has
-- one row with step NULL. Work for which no operations are known (modelled_pct) makes the
-- percentages lower bounds.
--
-- Source: PaLM (arXiv:2204.02311), appendix B; figures of operator_roofline.
-- Example: SELECT step, device, tflop_s, mfu_pct, hfu_pct, modelled_pct FROM step_mfu ORDER BY step
-- Holds: mfu_pct <= mfu_full_attention_pct + 0.000001
-- Holds: recompute_flop <= matrix_flop AND matrix_flop <= flop
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column step BIGINT id Step; NULL if the trace has no steps.
-- @column device BIGINT id Device; NULL where none was written.
-- @column step_ns BIGINT ns Duration of the step with its device work.
-- @column device_busy_ns BIGINT ns Time in which work of the step ran on the device.
-- @column flop DOUBLE number Operations of all work with figures; NULL if no work has them.
-- @column flop_full DOUBLE number The same with all of attention.
-- @column matrix_flop DOUBLE number Operations of products, convolutions and attention; NULL as
--   flop.
-- @column recompute_flop DOUBLE number The part of matrix_flop that checkpointing computes again;
--   NULL if not known.
-- @column bytes DOUBLE bytes Bytes of all work with figures; NULL if no work has them.
-- @column tflop_s DOUBLE TFLOP/s matrix_flop by step_ns; NULL as flop.
-- @column mfu_pct DOUBLE pct Model FLOPs utilisation; NULL with a reason.
-- @column hfu_pct DOUBLE pct Hardware FLOPs utilisation; NULL with a reason.
-- @column mfu_full_attention_pct DOUBLE pct mfu_pct with all of causal attention.
-- @column mbu_pct DOUBLE pct Memory bandwidth utilisation; NULL if the bandwidth is not known.
-- @column busy_mfu_pct DOUBLE pct mfu_pct by device_busy_ns instead of step_ns.
-- @column peak_dtype VARCHAR text Type whose peak mfu_pct divides by; NULL without products.
-- @column peak_tflop_s DOUBLE TFLOP/s That peak; NULL if not known.
-- @column modelled_pct DOUBLE pct Device time whose operations are known as percent of device time
--   without communication.
-- @column reason VARCHAR text Why a percentage is NULL or a lower bound; NULL if it is exact.
WITH wall AS (
    SELECT
        trace_id, CASE WHEN is_marked THEN step END AS step, start_ns, end_ns,
        end_ns - start_ns AS step_ns
    FROM _steps
),
has_steps AS (SELECT trace_id, max(step) IS NOT NULL AS is_marked FROM wall GROUP BY trace_id),
recompute AS (
    SELECT
        trace_id,
        count(*) AS frames,
        -- Few names pass the first comparison, which is much faster than the second.
        coalesce(bool_or(CASE WHEN contains(name, 'torch/utils/checkpoint.py(')
            THEN regexp_like(name, 'torch/utils/checkpoint\.py\(\d+\): backward') END), false)
            AS is_reentrant
    FROM events
    WHERE cat = 'python_function'
    GROUP BY trace_id
),
counted AS (
    SELECT
        c.trace_id, c.device, CASE WHEN h.is_marked THEN c.step END AS step, c.place, c.kind_id,
        c.has_tf32, c.has_transfer, c.is_divided, coalesce(r.is_recomputed, false) AS is_recomputed,
        count(*) AS calls, sum(c.device_ns) AS device_ns
    FROM _owner_calls c
    JOIN has_steps h ON h.trace_id = c.trace_id
    LEFT JOIN _recomputed_calls r ON r.trace_id = c.trace_id AND r.event_id = c.owner_id
    GROUP BY
        c.trace_id, c.device, CASE WHEN h.is_marked THEN c.step END, c.place, c.kind_id,
        c.has_tf32, c.has_transfer, c.is_divided, coalesce(r.is_recomputed, false)
),
calls AS (
    SELECT
        c.trace_id, k.rank, c.device, c.step, k.compute_type,
        k.unit = 'matrix' AND k.figure_reason IS NULL AS is_matrix,
        k.peak_tflop_s, k.peak_gb_s, c.place, c.device_ns, c.is_recomputed,
        k.figure_reason IS NULL AND k.flop IS NOT NULL AS is_known,
        -- Calls without figures count as 0, and modelled_pct states their share.
        CASE WHEN k.figure_reason IS NULL THEN c.calls * coalesce(CAST(k.flop AS DOUBLE), 0) ELSE 0
            END AS flop,
        CASE WHEN k.figure_reason IS NULL THEN c.calls * coalesce(CAST(k.flop_full AS DOUBLE), 0)
            ELSE 0 END AS flop_full,
        CASE WHEN k.figure_reason IS NULL THEN c.calls * coalesce(CAST(k.bytes AS DOUBLE), 0)
            ELSE 0 END AS bytes
    FROM counted c
    JOIN _roofline_kinds k
        ON k.trace_id = c.trace_id AND k.place = c.place AND k.kind_id = c.kind_id
            AND k.has_tf32 = c.has_tf32 AND k.has_transfer = c.has_transfer
            AND k.is_divided = c.is_divided
            AND coalesce(k.device, -1) = coalesce(c.device, -1)
),
by_type AS (
    SELECT
        trace_id, rank, device, step, CASE WHEN is_matrix THEN compute_type END AS dtype,
        max(CASE WHEN is_matrix THEN peak_tflop_s END) AS peak_tflop_s,
        max(peak_gb_s) AS peak_gb_s,
        sum(flop) AS flop,
        sum(flop_full) AS flop_full,
        sum(CASE WHEN is_matrix THEN flop ELSE 0 END) AS matrix_flop,
        sum(CASE WHEN is_matrix THEN flop_full ELSE 0 END) AS matrix_full,
        sum(CASE WHEN is_matrix AND is_recomputed THEN flop ELSE 0 END) AS recompute_flop,
        sum(CASE WHEN is_matrix AND is_recomputed THEN flop_full ELSE 0 END) AS recompute_full,
        sum(bytes) AS bytes,
        sum(CASE WHEN place <> 'communication' THEN device_ns END) AS work_ns,
        sum(CASE WHEN is_known THEN device_ns ELSE 0 END) AS known_ns
    FROM calls
    GROUP BY trace_id, rank, device, step, CASE WHEN is_matrix THEN compute_type END
),
summed AS (
    SELECT
        trace_id, rank, device, step,
        coalesce(nullif(setting_text('mfu_dtype'), ''), first_value(dtype
            ORDER BY matrix_flop DESC, dtype)) AS peak_dtype,
        max(peak_gb_s) AS peak_gb_s,
        sum(flop) AS flop,
        sum(flop_full) AS flop_full,
        sum(matrix_flop) AS matrix_flop,
        sum(matrix_full) AS matrix_full,
        sum(recompute_flop) AS recompute_flop,
        sum(recompute_full) AS recompute_full,
        sum(bytes) AS bytes,
        -- NULL if the peak of one of the types is not known.
        CASE
            WHEN count(*) FILTER (WHERE matrix_flop > 0 AND peak_tflop_s IS NULL) = 0
                THEN coalesce(sum(matrix_flop / peak_tflop_s), 0) / 1000
        END AS peak_ns,
        sum(work_ns) AS work_ns,
        sum(known_ns) AS known_ns
    FROM by_type
    GROUP BY trace_id, rank, device, step
),
busy AS (
    SELECT
        w.trace_id, w.device, CASE WHEN h.is_marked THEN w.step END AS step,
        interval_union_len(w.ts_ns, w.end_ns) AS busy_ns
    FROM _owned_work w
    JOIN has_steps h ON h.trace_id = w.trace_id
    GROUP BY w.trace_id, w.device, CASE WHEN h.is_marked THEN w.step END
),
timed AS (
    SELECT
        s.*, w.step_ns, b.busy_ns, coalesce(r.frames, 0) > 0 AND NOT r.is_reentrant AS has_frames,
        coalesce(r.is_reentrant, false) AS is_reentrant,
        CASE s.peak_dtype
            WHEN 'fp64' THEN coalesce(d.fp64_matrix_tflop_s, d.fp64_vector_tflop_s)
            WHEN 'fp32' THEN coalesce(d.fp32_matrix_tflop_s, d.fp32_vector_tflop_s)
            WHEN 'tf32' THEN d.tf32_tflop_s
            WHEN 'fp16' THEN d.fp16_tflop_s
            WHEN 'bf16' THEN d.bf16_tflop_s
            WHEN 'fp8' THEN d.fp8_tflop_s
            WHEN 'fp4' THEN d.fp4_tflop_s
            WHEN 'int8' THEN d.int8_tflop_s
        END AS peak_tflop_s,
        d.reason AS device_reason,
        100.0 * s.known_ns / nullif(s.work_ns, 0) AS modelled_pct
    FROM summed s
    JOIN wall w ON w.trace_id = s.trace_id
        AND coalesce(w.step, -1) = coalesce(s.step, -1) AND (w.step IS NULL) = (s.step IS NULL)
    LEFT JOIN busy b
        ON b.trace_id = s.trace_id
            AND coalesce(b.device, -1) = coalesce(s.device, -1)
            AND coalesce(b.step, -1) = coalesce(s.step, -1)
            AND (b.step IS NULL) = (s.step IS NULL)
    LEFT JOIN recompute r ON r.trace_id = s.trace_id
    LEFT JOIN device_roofline d
        ON d.trace_id = s.trace_id AND coalesce(d.device, -1) = coalesce(s.device, -1)
    WHERE w.step_ns > 0
),
-- Where the operations of no work are known, their sums are not 0 but unknown.
known AS (
    SELECT
        * EXCLUDE (flop, flop_full, matrix_flop, matrix_full, recompute_flop, recompute_full,
            bytes, peak_ns),
        CASE WHEN known_ns > 0 THEN flop END AS flop,
        CASE WHEN known_ns > 0 THEN flop_full END AS flop_full,
        CASE WHEN known_ns > 0 THEN matrix_flop END AS matrix_flop,
        CASE WHEN known_ns > 0 THEN matrix_full END AS matrix_full,
        CASE WHEN known_ns > 0 THEN recompute_flop END AS recompute_flop,
        CASE WHEN known_ns > 0 THEN recompute_full END AS recompute_full,
        CASE WHEN known_ns > 0 OR bytes > 0 THEN bytes END AS bytes,
        CASE WHEN known_ns > 0 THEN peak_ns END AS peak_ns
    FROM timed
),
rated AS (
    SELECT
        *,
        -- Operations per nanosecond by operations per picosecond.
        100.0 / 1000 / peak_tflop_s AS scale
    FROM known
)
SELECT
    trace_id, rank, step, device, step_ns, busy_ns AS device_busy_ns, flop, flop_full, matrix_flop,
    CASE WHEN has_frames THEN recompute_flop END AS recompute_flop,
    bytes,
    matrix_flop / step_ns / 1000 AS tflop_s,
    CASE WHEN has_frames THEN scale * (matrix_flop - recompute_flop) / step_ns END AS mfu_pct,
    100.0 * peak_ns / step_ns AS hfu_pct,
    CASE WHEN has_frames THEN scale * (matrix_full - recompute_full) / step_ns END
        AS mfu_full_attention_pct,
    100.0 * bytes / peak_gb_s / step_ns AS mbu_pct,
    CASE WHEN has_frames THEN scale * (matrix_flop - recompute_flop) / nullif(busy_ns, 0) END
        AS busy_mfu_pct,
    peak_dtype, peak_tflop_s, modelled_pct,
    nullif(concat_ws('; ',
        device_reason,
        CASE WHEN device_reason IS NULL AND (peak_ns IS NULL OR peak_tflop_s IS NULL)
            AND matrix_flop > 0 THEN 'the device has no peak for a type' END,
        CASE
            WHEN is_reentrant THEN 'reentrant checkpointing hides what is computed again'
            WHEN NOT has_frames THEN 'recomputation is not known without with_stack=True'
        END,
        CASE WHEN coalesce(known_ns, 0) = 0 THEN 'the operations of no work are known' END,
        CASE WHEN known_ns > 0 AND modelled_pct < 95 THEN concat(
            'a lower bound: operations are known for ', round(modelled_pct, 1),
            ' % of the device time') END), '') AS reason
FROM rated
