-- Growth of memory from step to step: a straight line through the bytes allocated at the end of
-- each step.
--
-- The line is fitted by least squares to one point per step and device: the number of the step, and
-- what is allocated when it ends (its last record, else the last one before). verdict is leak if
-- the slope exceeds memory_leak_bytes_per_step with a fit of at least memory_leak_min_r2, stable if
-- it does not, and not measurable with fewer steps than memory_leak_min_steps or where the profiler
-- wrote neither totals nor frees. A slope of the first steps often is warm-up: optimizers allocate
-- their state in the first.
--
-- Source: the leak rule of PRISM's training profiler, with a test of the fit.
-- Example: SELECT device, steps, slope_bytes, r2, verdict FROM memory_leak
-- Holds: growth_bytes = last_bytes - first_bytes
-- Range: any growth_bytes, slope_bytes; less than 0 where memory shrinks.
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column device_type VARCHAR text cpu, cuda, …; the kind of device.
-- @column device BIGINT id Device number; -1 is the host; NULL if not recorded.
-- @column steps BIGINT count Steps that the line is fitted to.
-- @column first_bytes BIGINT bytes Allocated at the end of the first of them.
-- @column last_bytes BIGINT bytes Allocated at the end of the last.
-- @column growth_bytes BIGINT bytes last_bytes - first_bytes.
-- @column slope_bytes DOUBLE bytes Slope of the line; NULL with fewer than two steps.
-- @column r2 DOUBLE ratio Share of the variance that the line explains, 0 to 1; NULL where it is
--   not defined.
-- @column threshold_bytes BIGINT bytes The slope above which it counts as a leak: the setting
--   memory_leak_bytes_per_step.
-- @column verdict VARCHAR text leak, stable or not measurable.
WITH devices_used AS (
    SELECT DISTINCT trace_id, rank, device_type, device, is_recorded FROM _memory_records
),
points AS (
    SELECT
        trace_id, device_type, device, ts_ns, record,
        record AS turn,
        allocated_bytes,
        CAST(NULL AS BIGINT) AS step
    FROM _memory_records
    UNION ALL
    SELECT
        d.trace_id, d.device_type, d.device, s.end_ns - 1, NULL, 9223372036854775807, NULL, s.step
    FROM devices_used d
    JOIN steps s ON s.trace_id = d.trace_id
),
-- A point belongs to the last record before it, which is the record with the same count of records.
counted AS (
    SELECT
        trace_id, device_type, device, step, allocated_bytes,
        count(record) OVER (
            PARTITION BY trace_id, device_type, device ORDER BY ts_ns, turn ROWS UNBOUNDED PRECEDING
        ) AS records
    FROM points
),
held AS (
    SELECT
        trace_id, device_type, device, step,
        CASE
            WHEN records > 0
                THEN max(allocated_bytes) OVER (PARTITION BY trace_id, device_type, device, records)
        END AS bytes
    FROM counted
),
fitted AS (
    SELECT
        trace_id, device_type, device,
        count(*) AS steps,
        first_value(bytes ORDER BY step) AS first_bytes,
        last_value(bytes ORDER BY step) AS last_bytes,
        linear_regression(CAST(bytes AS DOUBLE), CAST(step AS DOUBLE)) AS line
    FROM held
    WHERE step IS NOT NULL AND bytes IS NOT NULL
    GROUP BY trace_id, device_type, device
),
lines AS (
    SELECT *, line['slope'] AS slope_bytes, line['r2'] AS r2 FROM fitted
),
frees AS (
    SELECT trace_id, device_type, device, count(*) AS frees
    FROM memory
    WHERE action = 'free'
    GROUP BY trace_id, device_type, device
)
SELECT
    d.trace_id, d.rank, d.device_type, d.device,
    coalesce(f.steps, 0) AS steps,
    f.first_bytes, f.last_bytes,
    f.last_bytes - f.first_bytes AS growth_bytes,
    f.slope_bytes,
    f.r2,
    setting_int('memory_leak_bytes_per_step') AS threshold_bytes,
    CASE
        WHEN coalesce(f.steps, 0) < setting_int('memory_leak_min_steps')
            OR (NOT d.is_recorded AND r.frees IS NULL)
            THEN 'not measurable'
        WHEN f.slope_bytes > setting('memory_leak_bytes_per_step')
            AND f.r2 >= setting('memory_leak_min_r2')
            THEN 'leak'
        ELSE 'stable'
    END AS verdict
FROM devices_used d
LEFT JOIN lines f
    ON f.trace_id = d.trace_id
        AND (f.device_type IS NOT DISTINCT FROM d.device_type)
        AND (f.device IS NOT DISTINCT FROM d.device)
LEFT JOIN frees r
    ON r.trace_id = d.trace_id
        AND (r.device_type IS NOT DISTINCT FROM d.device_type)
        AND (r.device IS NOT DISTINCT FROM d.device)
