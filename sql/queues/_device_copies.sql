-- Copies and fills with their direction and their rate in whole bytes per second.
--
-- direction is HtoD, DtoH, DtoD, PtoP, HtoH or other for copies, and Memset for fills. The rate is
-- rounded down; it is NULL if the size is not known, the duration is 0, or the rate would be 10^15
-- or more, which no memory reaches.
-- @scope trace
SELECT
    trace_id, event_id, device, stream, step, kind, ts_ns, end_ns, dur_ns, bytes,
    CASE
        WHEN kind = 'memset' THEN 'Memset'
        WHEN contains(name, 'HtoD') OR contains(name, 'HostToDevice') THEN 'HtoD'
        WHEN contains(name, 'DtoH') OR contains(name, 'DeviceToHost') THEN 'DtoH'
        WHEN contains(name, 'DtoD') OR contains(name, 'DeviceToDevice') THEN 'DtoD'
        WHEN contains(name, 'PtoP') THEN 'PtoP'
        WHEN contains(name, 'HtoH') OR contains(name, 'HostToHost') THEN 'HtoH'
        ELSE 'other'
    END AS direction,
    CASE
        WHEN dur_ns > 0 AND bytes >= 0 AND bytes / nullif(dur_ns, 0) < 1000000
            THEN CAST(floor(
                CAST(bytes AS DECIMAL(38, 0)) * 1000000000 / nullif(dur_ns, 0)
            ) AS BIGINT)
    END AS bytes_per_s
FROM kernels
WHERE kind IN ('memcpy', 'memset') AND ts_ns IS NOT NULL AND dur_ns IS NOT NULL
