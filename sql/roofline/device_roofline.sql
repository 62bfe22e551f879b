-- Devices of a trace with their peaks: what each could compute and move, and how it was recognised.
--
-- One row per device that worked or is described. match says how the row of device_peaks was found:
-- setting (roofline_device), name and units, name, scaled, properties (a device without a name of its
-- own, by capability, units and memory), or only kind (the device is not described, and all devices
-- that the trace describes are alike). A device with fewer units than its row is a slice:
-- its peaks are scaled by the units, and its bandwidth by the memory if that is smaller too, else
-- the bandwidth is not known. There is no default: an unknown device has NULL peaks and a reason.
-- The ridge is the intensity from which arithmetic limits and not memory.
--
-- Source: device_peaks.
-- Example: SELECT device, name, matched_device, match, bandwidth_gb_s, bf16_tflop_s, ridge_bf16
--   FROM device_roofline
-- Holds: (matched_device IS NULL) = (reason IS NOT NULL)
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column device BIGINT id Device; NULL where none was written.
-- @column name VARCHAR text Name as reported, for only kind that of the others; NULL if not
--   recorded.
-- @column units BIGINT count Multiprocessors or compute units as reported, else those of the row of
--   device_peaks; NULL if neither is known.
-- @column memory_bytes BIGINT bytes Memory as reported; NULL if not recorded.
-- @column matched_device VARCHAR text The row of device_peaks; NULL if none fits.
-- @column match VARCHAR text How it was found; NULL if none fits.
-- @column status VARCHAR text How sure the peaks are: device_peaks.status.
-- @column source VARCHAR text Where the peaks come from.
-- @column bandwidth_gb_s DOUBLE GB/s Bandwidth of the memory; NULL if not known.
-- @column l2_bytes DOUBLE bytes Last cache before the memory; 50 MB if not known.
-- @column fp64_vector_tflop_s DOUBLE TFLOP/s Peak of double precision outside of matrix units.
-- @column fp64_matrix_tflop_s DOUBLE TFLOP/s Peak of double precision in matrix units.
-- @column fp32_vector_tflop_s DOUBLE TFLOP/s Peak of single precision outside of matrix units.
-- @column fp32_matrix_tflop_s DOUBLE TFLOP/s Peak of single precision in matrix units.
-- @column tf32_tflop_s DOUBLE TFLOP/s Peak of TF32.
-- @column fp16_tflop_s DOUBLE TFLOP/s Peak of float16.
-- @column bf16_tflop_s DOUBLE TFLOP/s Peak of bfloat16.
-- @column fp8_tflop_s DOUBLE TFLOP/s Peak of 8-bit floats.
-- @column fp4_tflop_s DOUBLE TFLOP/s Peak of 4-bit floats.
-- @column int8_tflop_s DOUBLE TFLOP/s Peak of 8-bit integers.
-- @column ridge_fp32 DOUBLE number Operations per byte at which the peaks of fp32 and memory meet.
-- @column ridge_bf16 DOUBLE number The same for bfloat16.
-- @column ridge_fp16 DOUBLE number The same for float16.
-- @column ridge_fp8 DOUBLE number The same for 8-bit floats.
-- @column reason VARCHAR text Why there are no peaks; NULL if there are.
WITH described AS (
    SELECT
        trace_id, device,
        CASE WHEN min(name) = max(name) THEN trim(max(name)) END AS name,
        CASE WHEN min(sm_count) = max(sm_count) AND max(sm_count) > 0 THEN max(sm_count) END
            AS units,
        CASE
            WHEN min(total_memory_bytes) = max(total_memory_bytes) AND max(total_memory_bytes) > 0
                THEN max(total_memory_bytes)
        END AS memory_bytes,
        CASE WHEN min(compute_major) = max(compute_major) THEN max(compute_major) END AS major,
        CASE WHEN min(compute_minor) = max(compute_minor) THEN max(compute_minor) END AS minor,
        bool_or(warp_size = 64) AS is_amd
    FROM devices
    WHERE device IS NOT NULL
    GROUP BY trace_id, device
),
working AS (
    SELECT DISTINCT trace_id, device FROM kernels WHERE kind IN ('kernel', 'memcpy', 'memset')
),
listed AS (
    SELECT trace_id, device FROM working
    UNION
    SELECT trace_id, device FROM described
),
-- Devices that work may have other numbers than those that are described, for example where a
-- process sees a part of the devices.
only_kinds AS (
    SELECT
        trace_id,
        max(name) AS name, max(units) AS units, max(memory_bytes) AS memory_bytes,
        max(major) AS major, max(minor) AS minor, bool_or(is_amd) AS is_amd
    FROM described
    GROUP BY trace_id
    HAVING count(name) = count(*) AND min(name) = max(name) AND min(units) = max(units)
        AND count(units) = count(*)
),
descriptions AS (
    SELECT
        l.trace_id, l.device, d.device IS NULL AS is_only_kind,
        coalesce(d.name, CASE WHEN d.device IS NULL THEN o.name END) AS name,
        coalesce(d.units, CASE WHEN d.device IS NULL THEN o.units END) AS units,
        coalesce(d.memory_bytes, CASE WHEN d.device IS NULL THEN o.memory_bytes END)
            AS memory_bytes,
        coalesce(d.major, CASE WHEN d.device IS NULL THEN o.major END) AS major,
        coalesce(d.minor, CASE WHEN d.device IS NULL THEN o.minor END) AS minor,
        coalesce(d.is_amd, CASE WHEN d.device IS NULL THEN o.is_amd END) AS is_amd
    FROM listed l
    LEFT JOIN described d ON d.trace_id = l.trace_id AND d.device = l.device
    LEFT JOIN only_kinds o ON o.trace_id = l.trace_id AND l.device IS NOT NULL
),
found AS (
    SELECT
        *,
        lower(regexp_replace(coalesce(name, ''), ' (VF|HF|MIG .*)$', '')) AS plain_name,
        coalesce(name, '') IN ('', 'AMD Radeon Graphics') AS is_generic
    FROM descriptions
),
peaks AS (
    SELECT
        *,
        string_to_array(
            lower(regexp_replace(reported_names, ' (VF|HF)(\||$)', '\2', 'g')), '|'
        ) AS names
    FROM device_peaks
),
-- Each device with the rows that could be it. The lowest place decides.
candidates AS (
    SELECT
        f.trace_id AS for_trace, f.device AS for_device, p.*,
        CASE
            WHEN p.device = lower(setting_text('roofline_device')) THEN 0
            WHEN setting_text('roofline_device') <> '' THEN NULL
            WHEN array_has(p.names, f.plain_name) AND p.units = f.units THEN 1
            WHEN array_has(p.names, f.plain_name) AND NOT f.is_generic THEN 2
            WHEN f.is_generic AND p.units = f.units
                AND abs(f.memory_bytes / 1073741824.0 / p.memory_gb - 1) <= 0.05
                AND (
                    p.arch = concat(f.major, '.', f.minor) AND NOT coalesce(f.is_amd, false)
                    OR starts_with(p.arch, concat('gfx', f.major, f.minor))
                        AND coalesce(f.is_amd, true)
                ) THEN 3
        END AS place
    FROM found f
    CROSS JOIN peaks p
),
ranked AS (
    SELECT
        *,
        rank() OVER (
            PARTITION BY for_trace, for_device ORDER BY place, status = 'user' DESC
        ) AS number,
        count(*) OVER (PARTITION BY for_trace, for_device, place, status = 'user') AS equals
    FROM candidates
    WHERE place IS NOT NULL
),
-- Several rows that fit equally well decide nothing.
chosen AS (SELECT * FROM ranked WHERE number = 1 AND equals = 1),
scaled AS (
    SELECT
        f.*, c.device AS matched_device, c.status, c.source, c.place, c.l2_mb, c.units AS row_units,
        CASE WHEN c.place = 2 AND f.units < c.units THEN 1.0 * f.units / c.units ELSE 1.0 END
            AS share,
        CASE
            WHEN c.place = 2 AND f.units < c.units THEN CASE
                WHEN f.memory_bytes / 1073741824.0 / c.memory_gb < 0.9
                    THEN c.bandwidth_gb_s * f.memory_bytes / 1073741824.0 / c.memory_gb
            END
            ELSE c.bandwidth_gb_s
        END AS bandwidth,
        c.arch, c.fp64_vector, c.fp64_matrix, c.fp32_vector, c.fp32_matrix, c.tf32, c.fp16, c.bf16,
        c.fp8, c.fp4, c.int8
    FROM found f
    LEFT JOIN chosen c ON c.for_trace = f.trace_id AND (c.for_device IS NOT DISTINCT FROM f.device)
),
-- A peak that is not above zero is not a peak.
sane AS (
    SELECT
        *,
        CASE WHEN bandwidth > 0 THEN bandwidth END AS bandwidth_gb_s,
        CASE WHEN fp64_vector > 0 THEN fp64_vector * share END AS fp64_vector_tflop_s,
        CASE WHEN fp64_matrix > 0 THEN fp64_matrix * share END AS fp64_matrix_tflop_s,
        CASE WHEN fp32_vector > 0 THEN fp32_vector * share END AS fp32_vector_tflop_s,
        CASE WHEN fp32_matrix > 0 THEN fp32_matrix * share END AS fp32_matrix_tflop_s,
        CASE WHEN tf32 > 0 THEN tf32 * share END AS tf32_tflop_s,
        CASE WHEN fp16 > 0 THEN fp16 * share END AS fp16_tflop_s,
        -- Devices of NVIDIA before capability 8.0 compute bfloat16 as float32.
        CASE
            WHEN bf16 > 0 THEN bf16 * share
            WHEN arch IN ('6.0', '7.0', '7.5') AND fp32_vector > 0 THEN fp32_vector * share
        END AS bf16_tflop_s,
        CASE WHEN fp8 > 0 THEN fp8 * share END AS fp8_tflop_s,
        CASE WHEN fp4 > 0 THEN fp4 * share END AS fp4_tflop_s,
        CASE WHEN int8 > 0 THEN int8 * share END AS int8_tflop_s
    FROM scaled
)
SELECT
    s.trace_id, t.rank, s.device, s.name, coalesce(s.units, s.row_units) AS units, s.memory_bytes,
    s.matched_device,
    CASE
        WHEN s.matched_device IS NULL THEN NULL
        WHEN s.place = 0 THEN 'setting'
        WHEN s.is_only_kind THEN 'only kind'
        WHEN s.place = 1 THEN 'name and units'
        WHEN s.share < 1 THEN 'scaled'
        WHEN s.place = 2 THEN 'name'
        ELSE 'properties'
    END AS match,
    s.status, s.source, s.bandwidth_gb_s,
    CASE
        WHEN s.matched_device IS NOT NULL
            THEN 1000000.0 * coalesce(CASE WHEN s.l2_mb > 0 THEN s.l2_mb END, 50)
    END AS l2_bytes,
    s.fp64_vector_tflop_s, s.fp64_matrix_tflop_s, s.fp32_vector_tflop_s, s.fp32_matrix_tflop_s,
    s.tf32_tflop_s, s.fp16_tflop_s, s.bf16_tflop_s, s.fp8_tflop_s, s.fp4_tflop_s, s.int8_tflop_s,
    1000 * coalesce(s.fp32_matrix_tflop_s, s.fp32_vector_tflop_s) / s.bandwidth_gb_s AS ridge_fp32,
    1000 * s.bf16_tflop_s / s.bandwidth_gb_s AS ridge_bf16,
    1000 * s.fp16_tflop_s / s.bandwidth_gb_s AS ridge_fp16,
    1000 * s.fp8_tflop_s / s.bandwidth_gb_s AS ridge_fp8,
    CASE
        WHEN s.matched_device IS NOT NULL THEN NULL
        WHEN setting_text('roofline_device') <> ''
            THEN 'the setting roofline_device names no row of device_peaks'
        WHEN s.name IS NULL AND s.units IS NULL
            THEN 'the trace does not describe the device: set roofline_device'
        ELSE concat(
            'no peaks for ', coalesce(nullif(s.name, ''), 'a device without a name'),
            CASE WHEN s.units IS NOT NULL THEN concat(' with ', s.units, ' units') ELSE '' END,
            ': set roofline_device or add a row to device_peaks')
    END AS reason
FROM sane s
JOIN traces t ON t.trace_id = s.trace_id
