-- Each kind of calls that own work of a device, with its figures and the peaks of the device: the
-- time that one call would take at the roofline.
--
-- The figures of a call with work on several devices cannot be divided among them. The bandwidth of
-- the memory does not bound copies from or to the host.
-- @scope trace
WITH used AS (
    SELECT DISTINCT trace_id, device, place, kind_id, has_tf32, has_transfer, is_divided
    FROM _owner_calls
),
figures AS (
    SELECT
        u.*, t.rank,
        f.name, f.input_shapes, f.input_types, f.arguments, f.form, f.unit, f.dtype,
        CASE
            WHEN f.unit = 'matrix' AND f.compute_type = 'fp32' AND u.has_tf32 = 1 THEN 'tf32'
            ELSE f.compute_type
        END AS compute_type,
        CASE WHEN NOT u.is_divided THEN f.flop END AS flop,
        CASE WHEN NOT u.is_divided THEN f.flop_full END AS flop_full,
        CASE WHEN NOT u.is_divided THEN f.flop_upper END AS flop_upper,
        CASE WHEN NOT u.is_divided THEN f.read_bytes END AS read_bytes,
        CASE WHEN NOT u.is_divided THEN f.written_bytes END AS written_bytes,
        CASE WHEN NOT u.is_divided THEN f.bytes_upper END AS bytes_upper,
        CASE WHEN NOT u.is_divided THEN f.quality END AS quality,
        CASE WHEN NOT u.is_divided THEN f.read_bytes + f.written_bytes END AS bytes,
        f.batch, f.m, f.n, f.k, f.dilation,
        CASE
            WHEN u.place = 'communication' THEN 'communication'
            WHEN u.place = 'graph' THEN 'replay of a graph: its operators are not recorded'
            WHEN u.place = 'host' THEN 'launched outside of operators'
            WHEN u.place = 'unlinked' THEN 'the launch is not in the trace'
            WHEN u.is_divided THEN 'its work ran on several devices'
            WHEN f.form IS NULL THEN 'no formula for this operator in operator_formulas'
            ELSE f.reason
        END AS figure_reason
    FROM used u
    JOIN traces t ON t.trace_id = u.trace_id
    LEFT JOIN _call_kinds f ON f.trace_id = u.trace_id AND f.kind_id = u.kind_id
),
peaked AS (
    SELECT
        f.*, d.bandwidth_gb_s AS peak_gb_s, d.l2_bytes, d.reason AS device_reason,
        CASE
            WHEN f.unit = 'vector' AND f.compute_type = 'fp64' THEN d.fp64_vector_tflop_s
            WHEN f.unit = 'vector' THEN d.fp32_vector_tflop_s
            WHEN f.compute_type = 'fp64' THEN coalesce(d.fp64_matrix_tflop_s, d.fp64_vector_tflop_s)
            WHEN f.compute_type = 'fp32' THEN coalesce(d.fp32_matrix_tflop_s, d.fp32_vector_tflop_s)
            WHEN f.compute_type = 'tf32' THEN d.tf32_tflop_s
            WHEN f.compute_type = 'fp16' THEN d.fp16_tflop_s
            WHEN f.compute_type = 'bf16' THEN d.bf16_tflop_s
            WHEN f.compute_type = 'fp8' THEN d.fp8_tflop_s
            WHEN f.compute_type = 'fp4' THEN d.fp4_tflop_s
            WHEN f.compute_type = 'int8' THEN d.int8_tflop_s
        END AS peak_tflop_s,
        CASE
            WHEN f.unit = 'matrix' AND f.compute_type = 'fp32' AND d.tf32_tflop_s IS NOT NULL
                THEN 'the products may have used TF32, which their kernels do not name'
            ELSE 'the clock is above boost, or the device is not the one it was taken for'
        END AS compute_over
    FROM figures f
    LEFT JOIN device_roofline d
        ON d.trace_id = f.trace_id AND (d.device IS NOT DISTINCT FROM f.device)
),
-- The time that arithmetic and memory need at least. Operations per picosecond are TFLOP/s, bytes
-- per nanosecond are GB/s.
timed AS (
    SELECT
        *,
        CASE WHEN flop = 0 OR flop IS NULL THEN 0 ELSE flop / peak_tflop_s / 1000 END AS compute_ns,
        bytes / peak_gb_s AS memory_ns,
        CASE
            WHEN coalesce(flop_upper, flop, 0) = 0 THEN 0
            ELSE coalesce(flop_upper, flop) / peak_tflop_s / 1000
        END AS compute_upper_ns,
        coalesce(bytes_upper, bytes) / peak_gb_s AS memory_upper_ns
    FROM peaked
)
SELECT
    *,
    CASE
        WHEN figure_reason IS NULL AND has_transfer = 0 AND compute_ns IS NOT NULL
                AND memory_ns IS NOT NULL
            THEN greatest(compute_ns, memory_ns)
    END AS roofline_ns,
    CASE
        WHEN figure_reason IS NULL AND has_transfer = 0 AND compute_ns IS NOT NULL
                AND memory_ns IS NOT NULL
            THEN greatest(compute_upper_ns, memory_upper_ns)
    END AS roofline_upper_ns,
    CASE
        WHEN figure_reason IS NOT NULL THEN figure_reason
        WHEN device_reason IS NOT NULL THEN device_reason
        WHEN has_transfer = 1
            THEN 'a copy from or to the host or another device: the link limits it'
        WHEN compute_ns IS NULL AND compute_type IS NULL
            THEN 'the type of the inputs has no peak'
        WHEN compute_ns IS NULL THEN concat('no peak of the device for ', compute_type)
        WHEN memory_ns IS NULL THEN 'the bandwidth of the device is not known'
    END AS reason
FROM timed
