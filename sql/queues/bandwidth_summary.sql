-- Copies and fills of each device by direction: amount, time and rates.
--
-- busy_ns is a union, so that copies that run side by side count once. mean_gb_s is the bytes by
-- that time, of copies of known size and of a duration above 0; peak_gb_s is the greatest rate of
-- bandwidth_over_time. Small copies take a fixed time of some microseconds, so that their rates say
-- little: median_gb_s is the median over copies, mean_gb_s weights them by time.
--
-- Source: get_memory_bw_summary of Holistic Trace Analysis, which does not tell devices apart.
-- Example: SELECT device, direction, copies, format_bytes(bytes) AS bytes, mean_gb_s, peak_gb_s
--   FROM bandwidth_summary ORDER BY busy_ns DESC
-- Holds: copies_without_rate <= copies
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column device BIGINT id Device; NULL where none was written.
-- @column direction VARCHAR text HtoD, DtoH, DtoD, PtoP, HtoH or other; Memset for fills.
-- @column copies BIGINT count Copies or fills.
-- @column copies_without_rate BIGINT count Those of unknown size or of duration 0.
-- @column bytes BIGINT bytes Sum of the known sizes; NULL if none is known.
-- @column busy_ns BIGINT ns Time in which at least one runs.
-- @column mean_gb_s DOUBLE GB/s Bytes by the time in which copies with a rate run, 10^9 bytes per
--   second; NULL without any.
-- @column median_gb_s DOUBLE GB/s Median rate of a copy; NULL without any.
-- @column peak_gb_s DOUBLE GB/s Greatest rate of all together; NULL without any.
WITH sums AS (
    SELECT
        trace_id, device, direction,
        count(*) AS copies,
        count(*) - count(bytes_per_s) AS copies_without_rate,
        sum(bytes) AS bytes,
        sum(bytes) FILTER (WHERE bytes_per_s IS NOT NULL) AS rated_bytes,
        interval_union_len(ts_ns, end_ns) AS busy_ns,
        interval_union_len(CASE WHEN bytes_per_s IS NOT NULL THEN ts_ns END, end_ns) AS rated_ns,
        quantile(bytes_per_s, 0.5) / 1e9 AS median_gb_s
    FROM _device_copies
    GROUP BY trace_id, device, direction
),
peaks AS (
    SELECT trace_id, device, direction, max(bytes_per_s) / 1e9 AS peak_gb_s
    FROM bandwidth_over_time
    GROUP BY trace_id, device, direction
)
SELECT
    s.trace_id, t.rank, s.device, s.direction, s.copies, s.copies_without_rate, s.bytes, s.busy_ns,
    CAST(s.rated_bytes AS DOUBLE) / nullif(s.rated_ns, 0) AS mean_gb_s,
    s.median_gb_s, p.peak_gb_s
FROM sums s
JOIN traces t ON t.trace_id = s.trace_id
LEFT JOIN peaks p
    ON p.trace_id = s.trace_id
        AND (p.device IS NOT DISTINCT FROM s.device)
        AND p.direction = s.direction
